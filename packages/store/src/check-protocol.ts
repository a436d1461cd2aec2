/** What the process that reads databases says before it opens a file. */
export const readingMark = 'reading\n';

/** What it says after it, on one line of JSON. */
export type Findings = {
  /** What is wrong; null when nothing is. */
  fault: string | null;
  /** It is wrong in the file itself. */
  isDamaged: boolean;
  /** The newest migration, of an immutable one. */
  newest: string;
  /** Of one in use: its write-ahead log does not fit its checksums, which may be because it was written just then. */
  isLogTorn: boolean;
};
