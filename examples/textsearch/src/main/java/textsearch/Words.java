package textsearch;

import java.util.ArrayList;
import java.util.List;

/** Splits a text into words. */
final class Words {
    private Words() {}

    /** The words of a line in order, in lower case; anything but letters and digits separates them. */
    static List<String> of(String line) {
        List<String> words = new ArrayList<>();
        int start = -1;
        for (int at = 0; at <= line.length(); at++) {
            boolean inside = at < line.length() && Character.isLetterOrDigit(line.charAt(at));
            if (inside && start < 0) {
                start = at;
            } else if (!inside && start >= 0) {
                words.add(line.substring(start, at).toLowerCase());
                start = -1;
            }
        }
        return words;
    }
}
