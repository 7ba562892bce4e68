/** The shapes that an option's declaration can have. The options themselves stand in `declaration.ts`. */

/** The answers known so far while options are resolved one after another, in declaration order. */
export type KnownAnswers = Readonly<Record<string, unknown>>;

interface OptionBase {
  /** One sentence for `--help` and the README's option table. */
  readonly help: string;
  /** The question that the wizard asks. */
  readonly prompt: string;
  /** Asked, and accepted as a flag, only where this holds. Absent: always. */
  readonly when?: (answers: KnownAnswers) => boolean;
  /** What `when` means in words, for `--help` and for the message that refuses the flag. */
  readonly whenText?: string;
  /** `run` options steer this one run and are not recorded in the manifest. */
  readonly scope: "project" | "run";
}

export interface TextOption extends OptionBase {
  readonly type: "text";
  readonly default: string;
  /** Says what is wrong with a value, or nothing. */
  readonly problem: (value: string) => string | undefined;
}

export interface NamesOption extends OptionBase {
  readonly type: "names";
  readonly default: readonly string[];
  /** An example of a value, shown in `--help` and as the wizard's placeholder. */
  readonly example: string;
  /** Says what is wrong with the names, or nothing. */
  readonly problem: (names: readonly string[], answers: KnownAnswers) => string | undefined;
}

export interface BooleanOption extends OptionBase {
  readonly type: "boolean";
  readonly default: boolean | ((answers: KnownAnswers) => boolean);
  /** The default in words where it depends on other answers. */
  readonly defaultText?: string;
}

export interface ChoiceOption extends OptionBase {
  readonly type: "choice";
  readonly choices: readonly { readonly value: string; readonly label: string; readonly hint: string }[];
  readonly default: string | ((answers: KnownAnswers) => string);
  readonly defaultText?: string;
  /** The answer where `when` does not hold. */
  readonly otherwise?: string;
}

export type Option = TextOption | NamesOption | BooleanOption | ChoiceOption;
