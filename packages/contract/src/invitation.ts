/** Characters of codes that people read and type: without 0 and O, 1, I and L, which look alike. */
export const codeSigns = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';

/** Length of an invitation's code: some 59 bits. Pairing codes of strangers are shorter, so that the two cannot be confused. */
export const invitationLength = 12;

const form = new RegExp(`^[${codeSigns}]{${invitationLength}}$`);
/** Including a command before it, and blanks. */
const longest = 100;

/**
 * The invitation code in a message that consists of one, ignoring case, dashes and spaces. Links of chat platforms send it after
 * `/start`. Null for any other message.
 */
export function invitationIn(text: string): string | null {
  if (text.length < invitationLength || text.length > longest) return null;
  const typed = text.trim().replace(/^\/start(@\w+)?\s+/, '');
  const code = typed.replaceAll(/[\s\p{Pd}]/gu, '').toUpperCase();
  return form.test(code) ? code : null;
}

/** The connector's link to a channel, with the code of an invitation filled in. */
export const inviteLinkOf = (template: string, code: string): string => template.replaceAll('{code}', encodeURIComponent(code));
