/** One server-sent event. `data` keeps the line breaks between its lines. */
export type SseEvent = { event: string; data: string; id: string | null };

export type SseReader = {
  /** Takes the next piece of text, however it is cut, and gives the events that are complete with it. */
  push(text: string): SseEvent[];
};

/** Reads the event stream format (WHATWG HTML, "Interpreting an event stream"). Text must be decoded in stream mode. */
export function createSseReader(): SseReader {
  let rest = '';
  let begun = false;
  let fields = noFields();

  const take = (line: string): SseEvent | null => {
    if (line !== '') {
      addField(fields, line);
      return null;
    }
    const { event, data, id } = fields;
    fields = noFields();
    return data.length === 0 ? null : { event: event || 'message', data: data.join('\n'), id };
  };

  return {
    push(text) {
      rest += text;
      if (!begun && rest !== '') {
        begun = true;
        if (rest.startsWith('\uFEFF')) rest = rest.slice(1);
      }
      const { lines, remainder } = splitLines(rest);
      rest = remainder;
      return lines.map(take).filter((event) => event !== null);
    },
  };
}

type Fields = { event: string; data: string[]; id: string | null };
const noFields = (): Fields => ({ event: '', data: [], id: null });

function addField(fields: Fields, line: string): void {
  const colon = line.indexOf(':');
  // A line that begins with a colon is a comment (keep-alive).
  if (colon === 0) return;
  const name = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
  if (name === 'data') fields.data.push(value);
  else if (name === 'event') fields.event = value;
  else if (name === 'id' && !value.includes('\0')) fields.id = value;
}

/** A line ends with CRLF, LF or CR. A CR at the very end waits: its LF may come with the next piece. */
function splitLines(text: string): { lines: string[]; remainder: string } {
  const lines: string[] = [];
  let from = 0;
  for (const match of text.matchAll(/\r\n|\n|\r(?!$)/g)) {
    lines.push(text.slice(from, match.index));
    from = match.index + match[0].length;
  }
  return { lines, remainder: text.slice(from) };
}
