const maxBytes = 1024;
const maxPartBytes = 255;
const maxDepth = 16;

/** Relative, with `/` between its parts, each of which is a name and none a way elsewhere. */
export function isPlainPath(name: string): boolean {
  if (name === '' || Buffer.byteLength(name) > maxBytes || !name.isWellFormed() || /[\\\p{Cc}]/u.test(name)) return false;
  const parts = name.split('/');
  return parts.length <= maxDepth && parts.every(isPlainPart);
}

const isPlainPart = (part: string): boolean =>
  part !== '' && part !== '.' && part !== '..' && Buffer.byteLength(part) <= maxPartBytes;
