import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.StringJoiner;

/** Filters as ranges of ranks and events as ranks, and how a program that matches them is asked. */
final class Grid {
    static final int UNBOUND = -1;
    static final int LARGEST = Integer.MAX_VALUE;
    static final int NOTHING = -2;

    final int attributes;
    final int filters;
    final int events;
    final int[][] low;
    final int[][] high;
    final int[][] unequal;
    final int[][] event;
    /** Whether all filters that name the attribute ask for one value of it. */
    final boolean[] onlyPoints;

    private Grid(IntBuffer numbers) {
        attributes = numbers.get();
        filters = numbers.get();
        events = numbers.get();
        low = read(numbers, filters);
        high = read(numbers, filters);
        unequal = read(numbers, filters);
        event = read(numbers, events);
        onlyPoints = new boolean[attributes];
        for (int a = 0; a < attributes; a++) {
            onlyPoints[a] = true;
            for (int f = 0; f < filters; f++) {
                boolean named = low[a][f] != UNBOUND;
                if (named && (low[a][f] != high[a][f] || unequal[a][f] != NOTHING)) {
                    onlyPoints[a] = false;
                    break;
                }
            }
        }
    }

    static Grid read(String file) throws IOException {
        try (FileChannel channel = FileChannel.open(Path.of(file))) {
            IntBuffer numbers = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size())
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .asIntBuffer();
            return new Grid(numbers);
        }
    }

    private int[][] read(IntBuffer numbers, int length) {
        int[][] rows = new int[attributes][length];
        for (int[] row : rows) {
            numbers.get(row);
        }
        return rows;
    }

    /** Whether the filter can match at all. */
    boolean possible(int filter) {
        for (int a = 0; a < attributes; a++) {
            if (low[a][filter] > high[a][filter]) {
                return false;
            }
        }
        return true;
    }

    interface Counter {
        int matches(int event) throws Exception;
    }

    /** Says that all is built, then answers questions until there are no more. */
    static void answer(Counter counter) throws Exception {
        PrintStream out = System.out;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            StringJoiner counts = new StringJoiner(" ");
            for (int e = Integer.parseInt(words[0]); e < Integer.parseInt(words[1]); e++) {
                counts.add(Integer.toString(counter.matches(e)));
            }
            out.println(counts);
        }
    }
}
