/** The names of the headers of an encrypted or PGP key. */
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

/** True when a header name begins with this. */
export const isHeaderStart = (line: string): boolean => headerWords.some((word) => word.startsWith(line));
