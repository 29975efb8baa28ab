package textsearch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** {@code java textsearch.Main FILE WORD...}: prints the lines of a file that hold all words. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) throws IOException {
        if (arguments.length < 2) {
            System.err.println("usage: textsearch FILE WORD...");
            System.exit(2);
        }
        Index index = new Index();
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            index.add(line);
        }
        String query = String.join(" ", Arrays.copyOfRange(arguments, 1, arguments.length));
        index.search(query).forEach(System.out::println);
    }
}
