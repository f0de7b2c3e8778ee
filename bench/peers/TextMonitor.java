import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.Term;
import org.apache.lucene.monitor.Monitor;
import org.apache.lucene.monitor.MonitorConfiguration;
import org.apache.lucene.monitor.MonitorQuery;
import org.apache.lucene.monitor.QueryMatch;
import org.apache.lucene.monitor.TermFilteredPresearcher;
import org.apache.lucene.queries.spans.SpanNearQuery;
import org.apache.lucene.queries.spans.SpanQuery;
import org.apache.lucene.queries.spans.SpanTermQuery;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;

/** Lucene Monitor on texts: patterns of three words, some with proximity. The file has the numbers of patterns and
 * texts, a line `kind word word word` for each pattern, and the texts. */
final class TextMonitor {
    private static final int AT_ONCE = 5000;
    private static final int GAP = 5;

    public static void main(String[] arguments) throws Exception {
        long started = System.nanoTime();
        List<String> texts = new ArrayList<>();
        MonitorConfiguration settings = new MonitorConfiguration().setQueryUpdateBufferSize(AT_ONCE);
        try (Monitor monitor = new Monitor(new WhitespaceAnalyzer(), new TermFilteredPresearcher(), settings);
                BufferedReader lines = Files.newBufferedReader(Path.of(arguments[0]))) {
            int patterns = Integer.parseInt(lines.readLine().split(" ")[0]);
            List<MonitorQuery> queries = new ArrayList<>();
            for (int p = 0; p < patterns; p++) {
                queries.add(new MonitorQuery(Integer.toString(p), query(lines.readLine().split(" "))));
                if (queries.size() == AT_ONCE || p == patterns - 1) {
                    monitor.register(queries);
                    queries.clear();
                }
            }
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                texts.add(line.replace('.', ' '));
            }
            System.out.println("{\"build_s\": " + (System.nanoTime() - started) / 1e9 + "}");
            answer(monitor, texts);
        }
    }

    private static void answer(Monitor monitor, List<String> texts) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            int most = Integer.parseInt(words[0]);
            double seconds = Double.parseDouble(words[1]);
            StringJoiner counts = new StringJoiner(", ");
            long started = processor();
            for (int t = 0; t < most && (processor() - started) / 1e9 < seconds; t++) {
                Document document = new Document();
                document.add(new TextField("body", texts.get(t), Field.Store.NO));
                counts.add(Integer.toString(monitor.match(document, QueryMatch.SIMPLE_MATCHER).getMatchCount()));
            }
            System.out.println("{\"seconds\": " + (processor() - started) / 1e9 + ", \"counts\": [" + counts + "]}");
        }
    }

    /** Nanoseconds of this process: the machine may have other things to do. */
    private static long processor() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static Query query(String[] parts) {
        BooleanQuery.Builder all = new BooleanQuery.Builder();
        boolean near = parts[0].equals("near");
        if (near || parts[0].equals("before")) {
            SpanQuery[] both = {span(parts[1]), span(parts[2])};
            all.add(new SpanNearQuery(both, GAP, !near), Occur.FILTER);
        } else {
            all.add(term(parts[1]), Occur.FILTER);
            all.add(term(parts[2]), Occur.FILTER);
        }
        all.add(term(parts[3]), parts[0].equals("not") ? Occur.MUST_NOT : Occur.FILTER);
        return all.build();
    }

    private static TermQuery term(String word) {
        return new TermQuery(new Term("body", word));
    }

    private static SpanQuery span(String word) {
        return new SpanTermQuery(new Term("body", word));
    }
}
