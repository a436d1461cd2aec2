/** Signs of the codes that people read and type: without 0 and O, 1, I and L, which are taken for one another. */
export const codeSigns = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';

/** Signs of an invitation's code: some 59 bits. Codes of strangers who wait are shorter, so that none is taken for the other. */
export const invitationLength = 12;

const form = new RegExp(`^[${codeSigns}]{${invitationLength}}$`);
/** With a command before it, and blanks. */
const longest = 100;

/**
 * The code of an invitation that a message is, whatever its case, dashes and spaces: alone or, as links of chat platforms send it, behind
 * `/start`. Null for any other message.
 */
export function invitationIn(text: string): string | null {
  if (text.length < invitationLength || text.length > longest) return null;
  const typed = text.trim().replace(/^\/start(@\w+)?\s+/, '');
  const code = typed.replaceAll(/[\s\p{Pd}]/gu, '').toUpperCase();
  return form.test(code) ? code : null;
}

/** A link to a channel as the connector gave it, with the code of an invitation in it. */
export const inviteLinkOf = (template: string, code: string): string => template.replaceAll('{code}', encodeURIComponent(code));
