import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import software.amazon.event.ruler.Machine;

/** AWS event-ruler, one event per call: the workload's own values, in the file that the programs in Rust read too. */
final class OneEventRuler {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        List<String> rules = new ArrayList<>();
        List<String> events = new ArrayList<>();
        try (BufferedReader lines = Files.newBufferedReader(Path.of(arguments[0]))) {
            JsonNode header = JSON.readTree(lines.readLine());
            for (int f = 0; f < header.get("filters").asInt(); f++) {
                rules.add(rule(JSON.readTree(lines.readLine())));
            }
            for (int e = 0; e < header.get("events").asInt(); e++) {
                events.add(lines.readLine());
            }
        }
        long started = System.nanoTime();
        Machine machine = new Machine();
        for (int f = 0; f < rules.size(); f++) {
            machine.addRule(Integer.toString(f), rules.get(f));
        }
        System.out.println("{\"build_s\":" + (System.nanoTime() - started) / 1e9 + "}");
        BufferedReader rounds = new BufferedReader(new InputStreamReader(System.in));
        for (String line = rounds.readLine(); line != null; line = rounds.readLine()) {
            String[] words = line.split(" ");
            System.out.println(round(machine, events, Integer.parseInt(words[0]), Double.parseDouble(words[1])));
        }
    }

    /** Matches the first events one after the other until the time is over. */
    private static String round(Machine machine, List<String> events, int most, double seconds) throws Exception {
        int[] found = new int[Math.min(most, events.size())];
        int done = 0;
        long started = System.nanoTime();
        while (done < found.length && (done % 16 != 0 || System.nanoTime() - started < seconds * 1e9)) {
            found[done] = machine.rulesForJSONEvent(events.get(done)).size();
            done++;
        }
        double spent = (System.nanoTime() - started) / 1e9;
        StringJoiner counts = new StringJoiner(",", "[", "]");
        for (int e = 0; e < done; e++) {
            counts.add(Integer.toString(found[e]));
        }
        return "{\"seconds\":" + spent + ",\"counts\":" + counts + "}";
    }

    private static String rule(JsonNode filter) throws Exception {
        StringJoiner fields = new StringJoiner(",", "{\"attributes\":{", "}}");
        for (JsonNode predicate : filter) {
            JsonNode value = predicate.get(2);
            String operator = predicate.get(1).asText();
            // A number is given as such: event-ruler would compare a bare one as text.
            String asked = value.isTextual()
                    ? JSON.writeValueAsString(value)
                    : "{\"numeric\":[\"" + operator + "\"," + value + "]}";
            fields.add(JSON.writeValueAsString(predicate.get(0)) + ":[" + asked + "]");
        }
        return fields.toString();
    }
}
