/** The header of a mail, in its order: names in small letters, values on one line. */
export type MailHeaders = readonly { name: string; value: string }[];

/** Fields of a header that are looked at; one that has more is cut, from below. */
const most = 2000;

/** The header of a raw mail, unfolded. Lines that are no field are passed over: mails of the world have them. */
export function readHeaders(raw: string): MailHeaders {
  const end = /\r?\n\r?\n/.exec(raw)?.index ?? raw.length;
  const fields: { name: string; value: string }[] = [];
  for (const line of raw.slice(0, end).split(/\r?\n/)) {
    const last = fields.at(-1);
    if (/^[ \t]/.test(line)) {
      if (last !== undefined) last.value += ` ${line.trim()}`;
      continue;
    }
    const cut = line.indexOf(':');
    if (cut < 1 || !/^[\x21-\x39\x3b-\x7e]+[ \t]*$/.test(line.slice(0, cut))) continue;
    if (fields.length === most) break;
    fields.push({ name: line.slice(0, cut).trim().toLowerCase(), value: line.slice(cut + 1).trim() });
  }
  return fields;
}

/** All values of a field, the topmost first. */
export const valuesOf = (headers: MailHeaders, name: string): string[] =>
  headers.filter((field) => field.name === name).map(({ value }) => value);

export const valueOf = (headers: MailHeaders, name: string): string | undefined => valuesOf(headers, name)[0];
