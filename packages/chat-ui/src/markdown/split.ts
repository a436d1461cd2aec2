/** A part of a text: code between fences, what is to be read as Markdown, or what is too wild for that and stands as it is. */
export type Part = { kind: 'code'; lang: string; text: string; closed: boolean } | { kind: 'markdown' | 'plain'; text: string };

/** Past these, a reader of Markdown takes seconds, or its stack: measured with 16 KB of `_a_b*` and 5,000 `>`. */
const maxParagraph = 8 * 1024;
const maxMarks = 400;
const maxDepth = 100;

/** Cuts at fences that begin a line. What stands between them is Markdown, but for paragraphs that would hold the page up. */
export function splitMarkdown(text: string): Part[] {
  const parts: Part[] = [];
  let paragraph: string[] = [];
  let code: { fence: string; lang: string; lines: string[] } | null = null;

  const endParagraph = () => {
    if (paragraph.length === 0) return;
    const joined = paragraph.join('\n');
    paragraph = [];
    const kind = isWild(joined) ? 'plain' : 'markdown';
    const last = parts.at(-1);
    if (last?.kind === kind && kind === 'markdown') last.text += `\n${joined}`;
    else parts.push({ kind, text: joined });
  };
  const endCode = (closed: boolean) => {
    if (code !== null) parts.push({ kind: 'code', lang: code.lang, text: code.lines.join('\n'), closed });
    code = null;
  };

  for (const line of text.replaceAll('\r\n', '\n').split('\n')) {
    const fence = /^(`{3,}|~{3,})[ \t]*([^\s`]{0,40})[^`]*$/.exec(line);
    if (code !== null) {
      const isEnd = fence !== null && fence[2] === '' && fence[1]?.startsWith(code.fence) === true;
      if (isEnd) endCode(true);
      else code.lines.push(line);
    } else if (fence !== null) {
      endParagraph();
      code = { fence: fence[1] ?? '', lang: fence[2] ?? '', lines: [] };
    } else {
      paragraph.push(line);
      if (line.trim() === '') endParagraph();
    }
  }
  endParagraph();
  endCode(false);
  return parts;
}

function isWild(text: string): boolean {
  if (text.length > maxParagraph) return true;
  const marks = text.match(/[_*~[\]`<\\|]/g)?.length ?? 0;
  return marks > maxMarks || text.split('\n').some((line) => depthOf(line) > maxDepth);
}

/** How deep a line stands in quotes and lists. */
const depthOf = (line: string): number => {
  const lead = /^(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*/.exec(line)?.[0] ?? '';
  return lead.replaceAll(' ', '').length + Math.floor(lead.length / 4);
};
