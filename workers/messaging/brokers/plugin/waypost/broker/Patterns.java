package waypost.broker;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Names of topics and of filters, level by level. {@code workers/messaging/patterns.py} has the same
 * rules for permissions; a test compares both.
 */
final class Patterns {

   private static final String ONE = "*";
   private static final String REST = "#";
   private static final int LONGEST = 255;  // characters, as of an address

   private Patterns() {
   }

   /** Whether it is a filter: {@code *} as whole levels, {@code #} as the last one, no other. */
   static boolean isFilter(String name) {
      if (name.length() > LONGEST || name.startsWith("$") || name.startsWith("activemq.")) {
         return false;
      }
      List<String> levels = Arrays.asList(name.split("/", -1));
      boolean isWild = false;
      for (int place = 0; place < levels.size(); place++) {
         String level = levels.get(place);
         if (level.equals(ONE) || level.equals(REST) && place == levels.size() - 1) {
            isWild = true;
         } else if (level.matches(".*[#*+\\s].*")) {
            return false;
         }
      }
      return isWild;
   }

   /** Whether {@code pattern} matches every name that {@code filter}, or this one name, matches. */
   static boolean covers(String pattern, String filter) {
      boolean isOpen = hasRest(pattern);
      List<String> wide = fixed(pattern);
      List<String> narrow = fixed(filter);
      if (!isOpen && (hasRest(filter) || narrow.size() != wide.size())) {
         return false;
      }
      if (narrow.size() < wide.size()) {
         return false;
      }
      for (int place = 0; place < wide.size(); place++) {
         if (!wide.get(place).equals(ONE) && !wide.get(place).equals(narrow.get(place))) {
            return false;
         }
      }
      return true;
   }

   private static boolean hasRest(String pattern) {
      return pattern.equals(REST) || pattern.endsWith("/" + REST);
   }

   /** The levels before the rest. Every name has a level, so the rest alone is one level or more. */
   private static List<String> fixed(String pattern) {
      List<String> levels = new ArrayList<>(Arrays.asList(pattern.split("/", -1)));
      if (hasRest(pattern)) {
         levels.remove(levels.size() - 1);
         if (levels.isEmpty()) {
            levels.add(ONE);
         }
      }
      return levels;
   }
}
