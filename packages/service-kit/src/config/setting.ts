/** The input of a setting's type, and where it reports problems. */
export type Reading = {
  /** Name of the variable. */
  name: string;
  /** Its text from the environment, else the default. */
  raw: string | undefined;
  default: string | undefined;
  /** The folder for relative paths. */
  root: string;
  dataDir: string;
  /** Reports a problem to the operator. The type then returns any value of the right type, which is not used. */
  problem(words: string): void;
};

/** Turns the text of a variable into its value, and checks it. */
export type SettingType<T> = (reading: Reading) => T;

export type SettingInfo = {
  /** What it does, in one line. */
  text: string;
  default?: string;
};

export type Setting<T> = Readonly<SettingInfo & { name: string; type: SettingType<T> }>;

/**
 * Declares a setting: its variable, its type, what it does. This is the only place: the type of `Settings`, `.env.example`,
 * the checks and the messages are all derived from it.
 */
export const setting = <T>(name: string, type: SettingType<T>, info: SettingInfo): Setting<T> =>
  Object.freeze({ ...info, name, type });

/** Settings by their names in the code; a further level groups related ones. */
export type Declared = { readonly [key: string]: Setting<unknown> | Declared };

/** The values of declared settings. */
export type ValuesOf<D> = {
  readonly [K in keyof D]: D[K] extends Setting<infer T> ? T : ValuesOf<D[K]>;
};

export const isSetting = (declared: Setting<unknown> | Declared): declared is Setting<unknown> =>
  typeof declared['type'] === 'function';

/** Every setting of a tree, in its order. */
export const settingsOf = (declared: Declared): Setting<unknown>[] =>
  Object.values(declared).flatMap((entry) => (isSetting(entry) ? [entry] : settingsOf(entry)));

/** The same tree, with the value of each setting. */
export function valuesOf<D extends Declared>(declared: D, read: (one: Setting<unknown>) => unknown): ValuesOf<D> {
  const entries = Object.entries(declared).map(([key, entry]) => [key, isSetting(entry) ? read(entry) : valuesOf(entry, read)]);
  return Object.fromEntries(entries) as ValuesOf<D>;
}

/** All invalid settings at once, each with its name and what it should be. */
export class SettingsError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Invalid settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'SettingsError';
    this.problems = problems;
  }
}
