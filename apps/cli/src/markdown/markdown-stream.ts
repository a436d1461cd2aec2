import { lexMarkdown, mostUnits } from '@svc/connector-kit/markdown/lex-markdown.ts';
import { span, wrapSpans, type Line } from '../screen/spans.ts';
import { codeFoot, codeHead, codeLine, renderBlocks } from './render-blocks.ts';

/** Markdown that comes in parts, as lines of a screen. */
export type MarkdownStream = {
  /** Takes a further part; gives the lines that nothing which follows can change. */
  push(text: string): Line[];
  /** What is not finished yet, as it looks at the moment. */
  preview(): Line[];
  /** The rest. What is pushed afterwards begins a text of its own. */
  end(): Line[];
};

type Fence = { mark: string; count: number; indent: number };

/** So much is looked at together, so that a long text takes no longer for coming at once. */
const pieceUnits = 4096;
/** An empty line, or one that may begin another block than a paragraph. */
const mayFinish = /^[ \t]*(?:\n|[#>`~|*+=_<-]|\d{1,9}[.)])/m;

/** Finished blocks are rendered as they end, code line by line. `columns` is asked each time: a window changes its size. */
export function createMarkdownStream(columns: () => number): MarkdownStream {
  /** What has come and is not rendered for good; while a fence is open, its unfinished line alone. */
  let open = '';
  let fence: Fence | null = null;
  let hasLines = false;
  /** Up to here no line of `open` can have finished a block. */
  let looked = 0;

  /** A block, apart from the one before it. */
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
    // One block without an end: it is shown as it is written.
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

  /** A long block is not parsed again for each of its lines. */
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
        // A line that can only go on with a paragraph finishes nothing, and the block need not be parsed once more.
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

/** Each block by itself: what is defined for links in another one came too late for it. */
const rendered = (markdown: string): string[] => lexMarkdown(markdown)?.map(({ raw }) => raw) ?? [markdown];

/** The fence that a text begins with, when its first line is whole. The line is looked at alone: it matches or not at once. */
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

/** Blocks of one line, and those that an empty line ends. */
const endsByItself = new Set(['heading', 'hr']);
const endsByBlank = new Set(['paragraph', 'table', 'heading', 'hr']);

/** The Markdown of the blocks at the beginning that no further line can change. `markdown` ends with a line's end. */
function finishedBlocks(markdown: string): string[] {
  if (markdown === '') return [];
  const tokens = lexMarkdown(markdown);
  if (tokens === null) return [];
  const last = tokens.findLastIndex(({ type }) => type !== 'space');
  const type = tokens[last]?.type ?? 'space';
  const isFinished = last === -1 || endsByItself.has(type) || (endsByBlank.has(type) && /\n[ \t]*\n$/.test(markdown));
  const raws = tokens.slice(0, isFinished ? tokens.length : last).map(({ raw }) => raw);
  // Code in a fence is taken line by line, however it comes.
  const code = raws.findIndex((raw) => fenceHead(raw) !== null);
  return code === -1 ? raws : raws.slice(0, code);
}
