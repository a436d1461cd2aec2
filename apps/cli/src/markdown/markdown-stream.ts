import { lexMarkdown, mostUnits } from '@svc/connector-kit/markdown/lex-markdown.ts';
import { span, wrapSpans, type Line } from '../screen/spans.ts';
import { codeFoot, codeHead, codeLine, renderBlocks } from './render-blocks.ts';

/** Markdown that arrives in parts, as lines of a screen. */
export type MarkdownStream = {
  /** Takes another part; returns the lines that no later part can change. */
  push(text: string): Line[];
  /** The unfinished part, as it looks now. */
  preview(): Line[];
  /** Returns the remaining lines. Text pushed afterwards starts a new document. */
  end(): Line[];
};

type Fence = { mark: string; count: number; indent: number };

/** Text is processed in pieces of this size, so that a long text takes no longer when it arrives at once. */
const pieceUnits = 4096;
/** An empty line, or one that may begin a block other than a paragraph. */
const mayFinish = /^[ \t]*(?:\n|[#>`~|*+=_<-]|\d{1,9}[.)])/m;

/** Renders blocks as they are completed, and code line by line. `columns` is read each time, because a window can be resized. */
export function createMarkdownStream(columns: () => number): MarkdownStream {
  /** The text not yet rendered for good; within an open fence, only its unfinished line. */
  let open = '';
  let fence: Fence | null = null;
  let hasLines = false;
  /** No line of `open` before this offset can have completed a block. */
  let looked = 0;

  /** A block, separated from the one before it. */
  const block = (lines: Line[]): Line[] => {
    if (lines.length === 0) return [];
    const apart: Line[] = hasLines ? [[]] : [];
    hasLines = true;
    return [...apart, ...lines];
  };

  const takeCode = (): Line[] => {
    const lines: Line[] = [];
    for (let end = open.indexOf('\n'); fence !== null && end !== -1; end = open.indexOf('\n')) {
      const line = open.slice(0, end);
      open = open.slice(end + 1);
      if (closes(line, fence)) {
        lines.push(codeFoot(columns()));
        fence = null;
      } else lines.push(codeLine(withoutIndent(line, fence.indent)));
    }
    return lines;
  };

  const openFence = (): Line[] => {
    const head = fenceHead(open);
    if (head === null) return [];
    fence = head;
    open = open.slice(open.indexOf('\n') + 1);
    return block([codeHead(head.info, columns())]);
  };

  const takeBlocks = (): Line[] => {
    const raws = finishedBlocks(open.slice(0, open.lastIndexOf('\n') + 1));
    open = open.slice(raws.reduce((length, raw) => length + raw.length, 0));
    const lines = raws.flatMap((raw) => block(renderBlocks(raw, columns())));
    if (open.length <= mostUnits) return lines;
    // A single block without an end is shown as it is written.
    const rest = block(wrapSpans([span(open)], columns()));
    open = '';
    return [...lines, ...rest];
  };

  const take = (): Line[] => {
    const lines: Line[] = [];
    for (let before = -1; before !== open.length;) {
      before = open.length;
      if (fence === null) lines.push(...openFence());
      if (fence === null) lines.push(...takeBlocks(), ...openFence());
      if (fence !== null) lines.push(...takeCode());
    }
    return lines;
  };

  /** Avoids parsing a long block again for each of its lines. */
  const isWorthALook = (): boolean => {
    const end = open.lastIndexOf('\n') + 1;
    return end - looked > open.length / 16 && mayFinish.test(open.slice(looked, end));
  };

  return {
    push(text) {
      const lines: Line[] = [];
      const clean = text.replaceAll('\r', '');
      for (let at = 0; at < clean.length; at += pieceUnits) {
        const piece = clean.slice(at, at + pieceUnits);
        open += piece;
        // A line that can only continue a paragraph completes nothing, so the block need not be parsed again.
        if (fence !== null || open.length > mostUnits || isWorthALook()) {
          lines.push(...take());
          looked = open.lastIndexOf('\n') + 1;
        }
      }
      return lines;
    },
    preview() {
      if (fence !== null) return open === '' ? [] : [codeLine(open)];
      const lines = renderBlocks(open, columns());
      return lines.length > 0 && hasLines ? [[], ...lines] : lines;
    },
    end() {
      const lines = take();
      if (fence !== null) {
        if (open !== '' && !closes(open, fence)) lines.push(codeLine(withoutIndent(open, fence.indent)));
        lines.push(codeFoot(columns()));
      } else lines.push(...rendered(open).flatMap((raw) => block(renderBlocks(raw, columns()))));
      [open, fence, hasLines, looked] = ['', null, false, 0];
      return lines;
    },
  };
}

/** Each block is rendered separately: link definitions in a later one come too late. */
const rendered = (markdown: string): string[] => lexMarkdown(markdown)?.map(({ raw }) => raw) ?? [markdown];

/** The fence at the beginning of a text, once its first line is complete. Only that line is examined, so this takes no time. */
function fenceHead(text: string): (Fence & { info: string }) | null {
  const end = text.indexOf('\n');
  const [, indent = '', marks = '', info = ''] = /^( {0,3})(`{3,}|~{3,})(.*)$/.exec(text.slice(0, Math.max(0, end))) ?? [];
  if (marks === '' || (marks.startsWith('`') && info.includes('`'))) return null;
  return { mark: marks.charAt(0), count: marks.length, indent: indent.length, info };
}

const closes = (line: string, { mark, count }: Fence): boolean => {
  const [, marks = ''] = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line) ?? [];
  return marks.startsWith(mark) && marks.length >= count;
};

const withoutIndent = (line: string, indent: number): string =>
  line.slice(Math.min(indent, line.length - line.trimStart().length));

/** Blocks of one line, and blocks that an empty line ends. */
const endsByItself = new Set(['heading', 'hr']);
const endsByBlank = new Set(['paragraph', 'table', 'heading', 'hr']);

/** The Markdown of the leading blocks that no later line can change. `markdown` ends with a line break. */
function finishedBlocks(markdown: string): string[] {
  if (markdown === '') return [];
  const tokens = lexMarkdown(markdown);
  if (tokens === null) return [];
  const last = tokens.findLastIndex(({ type }) => type !== 'space');
  const type = tokens[last]?.type ?? 'space';
  const isFinished = last === -1 || endsByItself.has(type) || (endsByBlank.has(type) && /\n[ \t]*\n$/.test(markdown));
  const raws = tokens.slice(0, isFinished ? tokens.length : last).map(({ raw }) => raw);
  // Code in a fence is processed line by line, in whatever parts it arrives.
  const code = raws.findIndex((raw) => fenceHead(raw) !== null);
  return code === -1 ? raws : raws.slice(0, code);
}
