/** An open code block: its opening line, and the marker that closes it. */
type Fence = { opener: string; marker: string };

/** Longest grapheme cluster to look for; a longer one is a prank, not writing. */
const longestCluster = 200;

/** How far a cut moves back to avoid a fence: three marks after a few blanks. */
const farthestMarks = 8;

/**
 * Cuts a text into messages of at most `limit` UTF-16 units, at a paragraph, line or word where possible. A code block that crosses a cut
 * is closed before it and reopened after it. A grapheme cluster is cut only if it is longer than a message, a surrogate pair never. A blank
 * text yields no message.
 */
export function splitMessage(text: string, limit: number): string[] {
  if (!Number.isInteger(limit) || limit < 2) throw new RangeError('A message has to hold at least two units.');
  if (text.trim() === '') return [];
  if (text.length <= limit) return [text];
  const splitter = createSplitter(limit);
  for (const line of text.split('\n')) addLine(splitter, line);
  return endOf(splitter);
}

/** The finished messages, and the one being filled. */
type Splitter = {
  readonly limit: number;
  readonly messages: string[];
  lines: string[];
  length: number;
  /** The open code block, and the index of the line that opened it. */
  fence: Fence | null;
  openedAt: number;
};

const createSplitter = (limit: number): Splitter => ({ limit, messages: [], lines: [], length: 0, fence: null, openedAt: 0 });

/** Space needed to close the open block. */
const reserve = ({ fence }: Splitter): number => (fence === null ? 0 : fence.marker.length + 1);
const room = (splitter: Splitter): number =>
  splitter.limit - reserve(splitter) - splitter.length - (splitter.lines.length > 0 ? 1 : 0);
const hasContent = ({ lines, fence, openedAt }: Splitter): boolean => lines.length > (fence !== null && openedAt === 0 ? 1 : 0);

function addLine(splitter: Splitter, line: string): void {
  const { fence, limit } = splitter;
  if (fence !== null && isEndOf(fence, line)) return endBlock(splitter, fence, line);
  const opened = fence === null ? toFence(line, limit) : null;
  if (opened === null) return addText(splitter, line);
  if (room(splitter) < opened.opener.length + opened.marker.length + 1 && splitter.lines.length > 0) cutAll(splitter);
  splitter.openedAt = splitter.lines.length;
  push(splitter, opened.opener);
  splitter.fence = opened;
}

/** Space for the end is reserved; a longer form of the same end is not worth another message. */
function endBlock(splitter: Splitter, { marker }: Fence, line: string): void {
  push(splitter, line.length <= room(splitter) + reserve(splitter) ? line : marker);
  splitter.fence = null;
}

function addText(splitter: Splitter, line: string): void {
  if (line.length > room(splitter) && hasContent(splitter)) cut(splitter);
  // The rest after a cut may still be too long together with this line.
  if (line.length > room(splitter) && hasContent(splitter)) cutHere(splitter);
  let rest = line;
  while (rest.length > room(splitter)) {
    const [head, tail] = cutLine(rest, room(splitter), splitter.fence === null);
    push(splitter, head);
    rest = tail;
    cutHere(splitter);
  }
  push(splitter, rest);
}

function push(splitter: Splitter, line: string): void {
  splitter.length += line.length + (splitter.lines.length > 0 ? 1 : 0);
  splitter.lines.push(line);
}

/** Ends the message, and keeps the lines that begin the next one. */
function cut(splitter: Splitter): void {
  const { lines, fence, openedAt, limit } = splitter;
  if (fence === null) {
    const at = paragraphEnd(lines, limit);
    emit(splitter, lines.slice(0, at), false);
    return take(splitter, lines.slice(at));
  }
  // An opening line at the very end moves to the next message, with its code.
  const isBare = openedAt > 0 && openedAt === lines.length - 1;
  if (isBare) emit(splitter, lines.slice(0, -1), false);
  else emit(splitter, [...lines, fence.marker], true);
  take(splitter, [fence.opener]);
  splitter.openedAt = 0;
}

/** Ends the message with all its lines. */
function cutAll(splitter: Splitter): void {
  emit(splitter, splitter.lines, splitter.fence !== null);
  take(splitter, []);
}

function cutHere(splitter: Splitter): void {
  if (splitter.fence === null) cutAll(splitter);
  else cut(splitter);
}

function emit({ messages }: Splitter, from: readonly string[], isInBlock: boolean): void {
  const message = from.join('\n');
  // Blank lines at a cut would only show as a gap.
  const trimmed = isInBlock ? message : message.replace(/^\n+/, '').trimEnd();
  if (trimmed.trim() !== '') messages.push(trimmed);
}

function take(splitter: Splitter, next: readonly string[]): void {
  splitter.lines = [];
  splitter.length = 0;
  for (const line of next) push(splitter, line);
}

function endOf(splitter: Splitter): string[] {
  const { messages, lines, fence } = splitter;
  // A block that its writer did not close stays open.
  if (fence === null || lines.length > 1 || messages.length === 0) emit(splitter, lines, fence !== null);
  return messages;
}

/** How many lines to send when a message is full: up to the last paragraph, unless that would leave it half empty. */
function paragraphEnd(lines: readonly string[], limit: number): number {
  const at = lines.findLastIndex((line) => line.trim() === '');
  if (at <= 0) return lines.length;
  const length = lines.slice(0, at).join('\n').length;
  // A blank line inside an earlier code block does not end a paragraph.
  return length >= limit / 2 && !endsInFence(lines.slice(0, at)) ? at : lines.length;
}

function endsInFence(lines: readonly string[]): boolean {
  let fence: Fence | null = null;
  for (const line of lines) fence = fence === null ? toFence(line, Infinity) : isEndOf(fence, line) ? null : fence;
  return fence !== null;
}

/** The block that a line opens. One whose fences would fill half of every message is treated as text. */
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

/** Splits off a part of at most `room` units; returns it and the rest. Between words, the space itself is dropped. */
function cutLine(line: string, room: number, betweenWords: boolean): [string, string] {
  for (let at = betweenWords ? line.lastIndexOf(' ', room) : -1; at > room / 2; at = line.lastIndexOf(' ', at - 1)) {
    if (!opensFence(line, at)) return [line.slice(0, at).trimEnd(), line.slice(at).trimStart()];
  }
  const end = clusterEnd(line, room);
  const at = betweenWords ? beforeMarks(line, end) : end;
  return [line.slice(0, at), line.slice(at)];
}

/** The nearest position at or before `end` where the rest does not open a code block; `end` itself when a long row of marks leaves none. */
function beforeMarks(line: string, end: number): number {
  for (let at = end; at > Math.max(0, end - farthestMarks); at = clusterEnd(line, at - 1)) if (!opensFence(line, at)) return at;
  return end;
}

/** Marks within a line open no code block, but would at the beginning of a message. */
const opensFence = (line: string, at: number): boolean => /^ *(?:`{3}|~{3})/.test(line.slice(at, at + 8));

let segmenter: Intl.Segmenter | null = null;

/** The last end of a grapheme cluster at or before `room`; within a longer cluster, the last end of a code point. */
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
