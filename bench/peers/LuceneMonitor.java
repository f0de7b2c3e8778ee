import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.analysis.core.KeywordAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntPoint;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.Term;
import org.apache.lucene.monitor.Monitor;
import org.apache.lucene.monitor.MonitorConfiguration;
import org.apache.lucene.monitor.MonitorQuery;
import org.apache.lucene.monitor.QueryMatch;
import org.apache.lucene.monitor.TermFilteredPresearcher;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.TermQuery;

/** Lucene Monitor: filters are boolean queries of terms and of ranges; its presearcher finds candidates by their terms. */
final class LuceneMonitor {
    private static final int AT_ONCE = 5000;

    public static void main(String[] arguments) throws Exception {
        Grid grid = Grid.read(arguments[0]);
        MonitorConfiguration settings = new MonitorConfiguration().setQueryUpdateBufferSize(AT_ONCE);
        try (Monitor monitor = new Monitor(new KeywordAnalyzer(), new TermFilteredPresearcher(), settings)) {
            List<MonitorQuery> queries = new ArrayList<>();
            for (int f = 0; f < grid.filters; f++) {
                if (grid.possible(f)) {
                    queries.add(new MonitorQuery(Integer.toString(f), query(grid, f)));
                }
                if (queries.size() == AT_ONCE || f == grid.filters - 1) {
                    monitor.register(queries);
                    queries.clear();
                }
            }
            Grid.answer(e -> monitor.match(event(grid, e), QueryMatch.SIMPLE_MATCHER).getMatchCount());
        }
    }

    private static BooleanQuery query(Grid grid, int f) {
        BooleanQuery.Builder all = new BooleanQuery.Builder();
        for (int a = 0; a < grid.attributes; a++) {
            int low = grid.low[a][f];
            if (low == Grid.UNBOUND) {
                continue;
            }
            if (grid.onlyPoints[a]) {
                all.add(new TermQuery(new Term("e" + a, Integer.toString(low))), Occur.FILTER);
                continue;
            }
            all.add(IntPoint.newRangeQuery("e" + a, low, grid.high[a][f]), Occur.FILTER);
            if (grid.unequal[a][f] != Grid.NOTHING) {
                all.add(IntPoint.newExactQuery("e" + a, grid.unequal[a][f]), Occur.MUST_NOT);
            }
        }
        return all.build();
    }

    private static Document event(Grid grid, int e) {
        Document document = new Document();
        for (int a = 0; a < grid.attributes; a++) {
            int value = grid.event[a][e];
            if (value == Grid.UNBOUND) {
                continue;
            }
            document.add(
                    grid.onlyPoints[a]
                            ? new StringField("e" + a, Integer.toString(value), Field.Store.NO)
                            : new IntPoint("e" + a, value));
        }
        return document;
    }
}
