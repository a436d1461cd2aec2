/** What the lines begin with that stand before an encrypted key, or before one for mail. */
const headerWords = [
  'proc-type:',
  'dek-info:',
  'version:',
  'comment:',
  'hash:',
  'charset:',
  'subject:',
  'key-derivation:',
  'key:',
];
export const longestHeaderWord = 16;

export const isHeaderWord = (line: string): boolean => headerWords.includes(line);

/** True when a header may begin like this. */
export const isHeaderStart = (line: string): boolean => headerWords.some((word) => word.startsWith(line));
