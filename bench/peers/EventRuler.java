import java.util.StringJoiner;
import software.amazon.event.ruler.Machine;

/** AWS event-ruler: rules and events are JSON; values of attributes that are only asked for equality are strings. */
final class EventRuler {
    public static void main(String[] arguments) throws Exception {
        Grid grid = Grid.read(arguments[0]);
        Machine machine = new Machine();
        for (int f = 0; f < grid.filters; f++) {
            if (grid.possible(f)) {
                machine.addRule(Integer.toString(f), rule(grid, f));
            }
        }
        String[] events = new String[grid.events];
        for (int e = 0; e < grid.events; e++) {
            events[e] = event(grid, e);
        }
        Grid.answer(e -> machine.rulesForJSONEvent(events[e]).size());
    }

    private static String rule(Grid grid, int f) {
        StringJoiner parts = new StringJoiner(",", "{", "}");
        for (int a = 0; a < grid.attributes; a++) {
            int low = grid.low[a][f];
            int high = grid.high[a][f];
            if (low == Grid.UNBOUND) {
                continue;
            }
            String asked;
            if (grid.onlyPoints[a]) {
                asked = "\"" + low + "\"";
            } else if (grid.unequal[a][f] != Grid.NOTHING) {
                asked = "{\"anything-but\":[" + grid.unequal[a][f] + "]}";
            } else if (low == high) {
                asked = "{\"numeric\":[\"=\"," + low + "]}";
            } else if (high == Grid.LARGEST) {
                asked = "{\"numeric\":[\">=\"," + low + "]}";
            } else {
                asked = "{\"numeric\":[\">=\"," + low + ",\"<=\"," + high + "]}";
            }
            parts.add("\"e" + a + "\":[" + asked + "]");
        }
        return parts.toString();
    }

    private static String event(Grid grid, int e) {
        StringJoiner parts = new StringJoiner(",", "{", "}");
        for (int a = 0; a < grid.attributes; a++) {
            int value = grid.event[a][e];
            if (value != Grid.UNBOUND) {
                String quote = grid.onlyPoints[a] ? "\"" : "";
                parts.add("\"e" + a + "\":" + quote + value + quote);
            }
        }
        return parts.toString();
    }
}
