import org.mustangproject.validator.ZUGFeRDValidator;

/** Prints Mustang's report on the file that the first argument names. */
public final class Validate {
    public static void main(String[] arguments) {
        ZUGFeRDValidator validator = new ZUGFeRDValidator();
        validator.disableNotices();
        System.out.println(validator.validate(arguments[0]));
    }
}
