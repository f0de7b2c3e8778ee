import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import javax.xml.transform.stream.StreamSource;
import net.sf.saxon.s9api.Processor;
import net.sf.saxon.s9api.XPathCompiler;
import net.sf.saxon.s9api.XPathSelector;
import net.sf.saxon.s9api.XdmNode;

/** Saxon, path by path. The file has the numbers of paths and documents, a line for each path, and a line for each
 * document. Documents are parsed before the time runs: what is measured is the paths alone. */
final class SaxonPaths {
    public static void main(String[] arguments) throws Exception {
        long started = System.nanoTime();
        Processor processor = new Processor(false);
        XPathCompiler compiler = processor.newXPathCompiler();
        compiler.setBackwardsCompatible(true); // the meaning of XPath 1.0
        List<XPathSelector> paths = new ArrayList<>();
        List<XdmNode> documents = new ArrayList<>();
        try (BufferedReader lines = Files.newBufferedReader(Path.of(arguments[0]))) {
            int count = Integer.parseInt(lines.readLine().split(" ")[0]);
            for (int p = 0; p < count; p++) {
                paths.add(compiler.compile(lines.readLine()).load());
            }
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                documents.add(processor.newDocumentBuilder().build(new StreamSource(new StringReader(line))));
            }
        }
        System.out.println("{\"build_s\": " + (System.nanoTime() - started) / 1e9 + "}");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            answer(paths, documents, Integer.parseInt(words[0]), Double.parseDouble(words[1]));
        }
    }

    private static void answer(List<XPathSelector> paths, List<XdmNode> documents, int most, double seconds)
            throws Exception {
        StringJoiner counts = new StringJoiner(", ");
        long started = System.nanoTime();
        for (int d = 0; d < most && (System.nanoTime() - started) / 1e9 < seconds; d++) {
            int held = 0;
            for (XPathSelector path : paths) {
                path.setContextItem(documents.get(d % documents.size()));
                held += path.effectiveBooleanValue() ? 1 : 0;
            }
            counts.add(Integer.toString(held));
        }
        System.out.println("{\"seconds\": " + (System.nanoTime() - started) / 1e9 + ", \"counts\": [" + counts + "]}");
    }
}
