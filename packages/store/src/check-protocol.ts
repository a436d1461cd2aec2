/** The reading process prints this before it opens a file. */
export const readingMark = 'reading\n';

/** Its result for a file, as one line of JSON. */
export type Findings = {
  /** What is wrong; null for a sound file. */
  fault: string | null;
  /** True when the file itself is damaged. */
  isDamaged: boolean;
  /** The newest migration; only for an immutable file. */
  newest: string;
  /** True for a file in use whose write-ahead log does not match its checksums, perhaps because it was being written. */
  isLogTorn: boolean;
};
