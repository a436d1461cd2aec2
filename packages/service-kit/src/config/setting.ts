/** Where the value of a setting is read, and where what is wrong with it goes. */
export type Reading = {
  /** Name of the variable. */
  name: string;
  /** Its text: of the environment, else the default. */
  raw: string | undefined;
  default: string | undefined;
  /** Relative paths lie here. */
  root: string;
  dataDir: string;
  /** Notes a problem for the operator. What the type gives then has the right type, and is not used. */
  problem(words: string): void;
};

/** Turns the text of a variable into its value, and checks it. */
export type SettingType<T> = (reading: Reading) => T;

export type SettingInfo = {
  /** One line of what it does. */
  text: string;
  default?: string;
};

export type Setting<T> = Readonly<SettingInfo & { name: string; type: SettingType<T> }>;

/**
 * Declares a setting: its variable, its type, what it does. This is the only place: the type of `Settings`,
 * `.env.example`, the checks and the messages all come from here.
 */
export const setting = <T>(name: string, type: SettingType<T>, info: SettingInfo): Setting<T> =>
  Object.freeze({ ...info, name, type });

/** Settings by the name that the code has for them; one more level groups those of one thing. */
export type Declared = { readonly [key: string]: Setting<unknown> | Declared };

/** The values of what is declared. */
export type ValuesOf<D> = {
  readonly [K in keyof D]: D[K] extends Setting<infer T> ? T : ValuesOf<D[K]>;
};

export const isSetting = (declared: Setting<unknown> | Declared): declared is Setting<unknown> =>
  typeof declared['type'] === 'function';

/** Every setting of a tree, in its order. */
export const settingsOf = (declared: Declared): Setting<unknown>[] =>
  Object.values(declared).flatMap((entry) => (isSetting(entry) ? [entry] : settingsOf(entry)));

/** The tree with a value in the place of each setting. */
export function valuesOf<D extends Declared>(declared: D, read: (one: Setting<unknown>) => unknown): ValuesOf<D> {
  const entries = Object.entries(declared).map(([key, entry]) => [key, isSetting(entry) ? read(entry) : valuesOf(entry, read)]);
  return Object.fromEntries(entries) as ValuesOf<D>;
}

/** All bad settings at once, each with its name and what it should be. */
export class SettingsError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Bad settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'SettingsError';
    this.problems = problems;
  }
}
