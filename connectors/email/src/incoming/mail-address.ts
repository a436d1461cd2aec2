/** Longest address that mail servers pass on, in characters (RFC 5321 section 4.5.3.1). */
const longest = 254;

/**
 * An address in the form used for comparison: in lower case, including the local part, which no major provider treats as case-sensitive.
 * Null for a quoted address or one with non-ASCII characters: it might only look like a person's address.
 */
export function mailAddress(text: string): string | null {
  if (text.length > longest) return null;
  const isPlain =
    /^[a-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i.test(text);
  return isPlain ? text.toLowerCase() : null;
}

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);
