/** An open code block: what began it, and what ends it. */
type Fence = { opener: string; marker: string };

/** Longest grapheme cluster that is looked for; what is longer is no writing but a prank. */
const longestCluster = 200;

/**
 * Cuts a text into messages of at most `limit` UTF-16 units, at a paragraph, line or word where it can. A code block that
 * goes over a cut is ended before it and opened again behind it. No character a reader sees as one is cut unless it is
 * longer than a message, and never a surrogate pair. Blank texts give no message.
 */
export function splitMessage(text: string, limit: number): string[] {
  if (!Number.isInteger(limit) || limit < 2) throw new RangeError('A message has to hold at least two units.');
  if (text.trim() === '') return [];
  if (text.length <= limit) return [text];
  const splitter = createSplitter(limit);
  for (const line of text.split('\n')) splitter.addLine(line);
  return splitter.end();
}

function createSplitter(limit: number) {
  const messages: string[] = [];
  let lines: string[] = [];
  let length = 0;
  let fence: Fence | null = null;
  /** Which of the lines opened it. */
  let openedAt = 0;

  /** What the open block still needs for its end. */
  const reserve = () => (fence === null ? 0 : fence.marker.length + 1);
  const room = () => limit - reserve() - length - (lines.length > 0 ? 1 : 0);

  function push(line: string): void {
    length += line.length + (lines.length > 0 ? 1 : 0);
    lines.push(line);
  }

  function emit(from: readonly string[]): void {
    const message = from.join('\n');
    // Blank lines at a cut would only show as a gap.
    const trimmed = fence === null ? message.replace(/^\n+/, '').trimEnd() : message;
    if (trimmed.trim() !== '') messages.push(trimmed);
  }

  function take(next: readonly string[]): void {
    lines = [];
    length = 0;
    for (const line of next) push(line);
  }

  /** Ends the message; the lines that begin the next one stay. */
  function cut(): void {
    if (fence === null) {
      const at = paragraphEnd(lines, limit);
      emit(lines.slice(0, at));
      return take(lines.slice(at));
    }
    // An opener at the very end goes along with the code it opens.
    const isBare = openedAt > 0 && openedAt === lines.length - 1;
    if (isBare) emitOutside(lines.slice(0, -1));
    else emit([...lines, fence.marker]);
    take([fence.opener]);
    openedAt = 0;
  }

  function emitOutside(from: readonly string[]): void {
    const open = fence;
    fence = null;
    emit(from);
    fence = open;
  }

  function addLine(line: string): void {
    if (fence !== null && isEndOf(fence, line)) {
      // Its place was kept free; longer spellings of the same end are not worth a message.
      const end = line.length <= room() + reserve() ? line : fence.marker;
      push(end);
      fence = null;
      return;
    }
    const opened = fence === null ? toFence(line, limit) : null;
    if (opened === null) return addText(line);
    if (room() < opened.opener.length + opened.marker.length + 1 && lines.length > 0) cutAll();
    openedAt = lines.length;
    push(opened.opener);
    fence = opened;
  }

  /** Ends the message with nothing left over. */
  function cutAll(): void {
    emit(lines);
    take([]);
  }

  function cutHere(): void {
    if (fence === null) cutAll();
    else cut();
  }

  function addText(line: string): void {
    if (line.length > room() && hasContent()) cut();
    // What a cut left over may still be too much together with this line.
    if (line.length > room() && hasContent()) cutHere();
    let rest = line;
    while (rest.length > room()) {
      const [head, tail] = cutLine(rest, room(), fence === null);
      push(head);
      rest = tail;
      cutHere();
    }
    push(rest);
  }

  const hasContent = () => lines.length > (fence !== null && openedAt === 0 ? 1 : 0);

  return {
    addLine,
    end(): string[] {
      // A block that its writer left open is left open.
      if (fence === null || lines.length > 1 || messages.length === 0) emit(lines);
      return messages;
    },
  };
}

/** How many lines to send when a message is full: up to the last paragraph, unless that would leave it half empty. */
function paragraphEnd(lines: readonly string[], limit: number): number {
  const at = lines.findLastIndex((line) => line.trim() === '');
  if (at <= 0) return lines.length;
  const length = lines.slice(0, at).join('\n').length;
  // A paragraph that ends inside an earlier code block is no paragraph.
  return length >= limit / 2 && !endsInFence(lines.slice(0, at)) ? at : lines.length;
}

function endsInFence(lines: readonly string[]): boolean {
  let fence: Fence | null = null;
  for (const line of lines) fence = fence === null ? toFence(line, Infinity) : isEndOf(fence, line) ? null : fence;
  return fence !== null;
}

/** The block that a line opens. One whose frame would fill half of every message is treated as text. */
function toFence(line: string, limit: number): Fence | null {
  const match = /^ {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$/.exec(line);
  const marker = match?.[1] ?? match?.[2];
  if (marker === undefined) return null;
  if (line.length + marker.length + 2 <= limit / 2) return { opener: line, marker };
  return marker.length * 2 + 2 <= limit / 2 ? { opener: marker, marker } : null;
}

const isEndOf = ({ marker }: Fence, line: string): boolean => {
  const end = line.trim();
  return end.length >= marker.length && end === marker.charAt(0).repeat(end.length) && /^ {0,3}\S/.test(line);
};

/** A part of at most `room` units and the rest. Between words the space itself is dropped. */
function cutLine(line: string, room: number, betweenWords: boolean): [string, string] {
  const space = betweenWords ? line.lastIndexOf(' ', room) : -1;
  if (space > room / 2) return [line.slice(0, space).trimEnd(), line.slice(space).trimStart()];
  const at = clusterEnd(line, room);
  return [line.slice(0, at), line.slice(at)];
}

let segmenter: Intl.Segmenter | null = null;

/** The last end of a grapheme cluster at or before `room`; inside one that is longer, the last end of a code point. */
function clusterEnd(line: string, room: number): number {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  let end = 0;
  for (const { index, segment } of segmenter.segment(line.slice(0, room + longestCluster))) {
    if (index + segment.length > room) break;
    end = index + segment.length;
  }
  if (end > 0) return end;
  const isHalf = /[\ud800-\udbff]/.test(line.charAt(room - 1)) && /[\udc00-\udfff]/.test(line.charAt(room));
  return isHalf ? room - 1 : room;
}
