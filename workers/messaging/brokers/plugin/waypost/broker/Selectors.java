package waypost.broker;

import java.lang.reflect.Field;
import java.util.List;
import java.util.regex.Pattern;

import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.ActiveMQExceptionType;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.protocol.amqp.exceptions.ActiveMQAMQPException;
import org.apache.activemq.artemis.selector.filter.BinaryExpression;
import org.apache.activemq.artemis.selector.filter.ConstantExpression;
import org.apache.activemq.artemis.selector.filter.Expression;
import org.apache.activemq.artemis.selector.filter.FilterException;
import org.apache.activemq.artemis.selector.filter.LogicExpression;
import org.apache.activemq.artemis.selector.filter.PropertyExpression;
import org.apache.activemq.artemis.selector.filter.UnaryExpression;
import org.apache.activemq.artemis.selector.impl.SelectorParser;
import org.apache.qpid.proton.amqp.transport.AmqpError;

/**
 * Refuses selectors whose evaluation can hold a broker thread.
 *
 * The broker translates {@code LIKE} to a backtracking regular expression. Each {@code %} multiplies
 * the work by the length of the text, except the first one and one at the end. So a pattern may
 * have one {@code %} and another one at its end: the work then grows in proportion to the length.
 */
final class Selectors {

   /** Characters. Longer selectors could exhaust the stack of the thread that evaluates them. */
   static final int LONGEST = 2048;

   /** How the broker's regular expressions say {@code %}; all other characters are escaped there. */
   private static final String PERCENT = ".*?";
   private static final String END = "\\z";

   private static final Field LIKE_PATTERN = field("ComparisonExpression$LikeExpression",
      "likePattern");
   private static final Field OPERANDS = field("LogicExpression", "expressions");

   private Selectors() {
   }

   static void check(SimpleString filter) throws ActiveMQException {
      if (filter == null || filter.isEmpty()) {
         return;
      }
      if (filter.length() > LONGEST) {
         throw refusal("A selector may have " + LONGEST + " characters, and this one has "
            + filter.length() + ".");
      }
      try {
         checkTree(SelectorParser.parse(filter.toString()));
      } catch (FilterException error) {
         throw refusal("The selector is not valid: " + error.getMessage());
      }
   }

   /** Checks each part; a kind of expression that is not known here is refused. */
   private static void checkTree(Expression expression) throws ActiveMQException {
      if (expression instanceof BinaryExpression binary) {
         checkTree(binary.getLeft());
         checkTree(binary.getRight());
      } else if (expression instanceof UnaryExpression unary) {
         if (LIKE_PATTERN.getDeclaringClass().isInstance(unary)) {
            checkLike((Pattern) read(LIKE_PATTERN, unary));
         }
         checkTree(unary.getRight());
      } else if (expression instanceof LogicExpression logic) {
         for (Object operand : (List<?>) read(OPERANDS, logic)) {
            checkTree((Expression) operand);
         }
      } else if (!(expression instanceof ConstantExpression
         || expression instanceof PropertyExpression)) {
         throw refusal("A selector may not contain XPATH or XQUERY.");
      }
   }

   private static void checkLike(Pattern like) throws ActiveMQException {
      String text = like.pattern();
      if (text.endsWith(PERCENT + END)) {
         text = text.substring(0, text.length() - PERCENT.length() - END.length());
      }
      if (text.indexOf(PERCENT) != text.lastIndexOf(PERCENT)) {
         throw refusal("A LIKE pattern of a selector may have one % and another one at its end. "
            + "Write p LIKE '%a%' AND p LIKE '%b%' instead of p LIKE '%a%b%'.");
      }
   }

   private static Object read(Field field, Expression expression) {
      try {
         return field.get(expression);
      } catch (IllegalAccessException error) {
         throw new IllegalStateException(error);
      }
   }

   /** Fails when this class is loaded, so no selector is accepted, if Artemis has no such field. */
   private static Field field(String type, String name) {
      try {
         Field field = Class.forName(Expression.class.getPackageName() + "." + type)
            .getDeclaredField(name);
         field.setAccessible(true);
         return field;
      } catch (ReflectiveOperationException error) {
         throw new ExceptionInInitializerError(error);
      }
   }

   private static ActiveMQException refusal(String text) {
      return new ActiveMQAMQPException(AmqpError.INVALID_FIELD, text,
         ActiveMQExceptionType.INVALID_FILTER_EXPRESSION);
   }
}
