/** An invitation as text, with only what a person needs (RFC 5545); null when there is none. */
export function calendarText(ics: string): string | null {
  const lines = ics
    .slice(0, 200_000)
    .replaceAll(/\r?\n[ \t]/g, '')
    .split(/\r?\n/);
  const start = lines.indexOf('BEGIN:VEVENT');
  if (start === -1) return null;
  const end = lines.indexOf('END:VEVENT', start);
  const event = lines.slice(start, end === -1 ? undefined : end);
  const find = (name: string, among = event): string | undefined => {
    const start = new RegExp(`^${name}[;:]`, 'i');
    const line = among.find((each) => start.test(each));
    return line === undefined ? undefined : plain(valueOf(line));
  };
  const method = find('METHOD', lines)?.toUpperCase() ?? '';
  const kind = { CANCEL: 'Cancelled appointment', REPLY: 'Answer to an invitation' }[method] ?? 'Invitation';
  const parts = [
    ['', find('SUMMARY')],
    ['from', when(find('DTSTART'))],
    ['to', when(find('DTEND'))],
    ['at', find('LOCATION')],
    ['by', find('ORGANIZER')?.replace(/^mailto:/i, '')],
  ];
  const said = parts.flatMap(([word, value]) => (value === undefined || value === '' ? [] : [`${word} ${value}`.trim()]));
  return `${kind}: ${said.join(', ')}`;
}

/** The text after the first colon outside of quotes. */
function valueOf(line: string): string {
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '"') isQuoted = !isQuoted;
    else if (line[at] === ':' && !isQuoted) return line.slice(at + 1);
  }
  return line;
}

const plain = (value: string): string =>
  value.replaceAll(/\\n/gi, ' ').replaceAll(/\\(.)/g, '$1').replaceAll(/\s+/g, ' ').trim().slice(0, 500);

function when(value: string | undefined): string | undefined {
  const [, year, month, day, hour, minute, zone] = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?$/.exec(value ?? '') ?? [];
  if (year === undefined) return value;
  return `${year}-${month}-${day}${hour === undefined ? '' : ` ${hour}:${minute}${zone === 'Z' ? ' UTC' : ''}`}`;
}
