/** The header of a mail, in order: names in lower case, unfolded values. */
export type MailHeaders = readonly { name: string; value: string }[];

/** Maximum number of header fields; the lowest ones beyond it are ignored. */
const most = 2000;

/** The unfolded header of a raw mail. Invalid lines, which occur in practice, are skipped. */
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

/** All values of a field, from top to bottom. */
export const valuesOf = (headers: MailHeaders, name: string): string[] =>
  headers.filter((field) => field.name === name).map(({ value }) => value);

export const valueOf = (headers: MailHeaders, name: string): string | undefined => valuesOf(headers, name)[0];
