// Written by scripts/write-texts.ts from t(…), plural(…), pieces(…) and <Rich text="…">: every text that a language of the dashboard has.

export type Text =
  never;

/** By the form for one. */
export type Plural =
  never;
