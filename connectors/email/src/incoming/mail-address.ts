/** Longest address that mail servers pass on, in characters (RFC 5321 section 4.5.3.1). */
const longest = 254;

/**
 * An address as it is compared: its domain in small letters, and so is what stands before it, because no provider of note distinguishes it. Null for one that is
 * not plain ASCII or is quoted: what only looks like an address of a person is not one.
 */
export function mailAddress(text: string): string | null {
  if (text.length > longest) return null;
  const isPlain =
    /^[a-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i.test(text);
  return isPlain ? text.toLowerCase() : null;
}

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);
