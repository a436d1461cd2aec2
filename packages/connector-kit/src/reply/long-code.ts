import type { ReplyFile } from './reply-platform.ts';

const extensions: Readonly<Record<string, string>> = {
  bash: 'sh', c: 'c', clojure: 'clj', cpp: 'cpp', 'c++': 'cpp', 'c#': 'cs', csharp: 'cs', css: 'css', csv: 'csv', dart: 'dart', diff: 'diff',
  dockerfile: 'dockerfile', elixir: 'ex', erlang: 'erl', go: 'go', golang: 'go', graphql: 'graphql', haskell: 'hs', hcl: 'hcl', html: 'html',
  ini: 'ini', java: 'java', javascript: 'js', js: 'js', json: 'json', jsonc: 'json', jsx: 'jsx', julia: 'jl', kotlin: 'kt', latex: 'tex',
  less: 'less', lua: 'lua', makefile: 'mk', markdown: 'md', md: 'md', nim: 'nim', nix: 'nix', objc: 'm', ocaml: 'ml', perl: 'pl', php: 'php',
  powershell: 'ps1', ps1: 'ps1', proto: 'proto', py: 'py', python: 'py', r: 'r', rb: 'rb', ruby: 'rb', rs: 'rs', rust: 'rs', scala: 'scala',
  scss: 'scss', sh: 'sh', shell: 'sh', sql: 'sql', svelte: 'svelte', svg: 'svg', swift: 'swift', tex: 'tex', toml: 'toml', ts: 'ts', tsv: 'tsv',
  tsx: 'tsx', typescript: 'ts', vue: 'vue', xml: 'xml', yaml: 'yaml', yml: 'yml', zig: 'zig', zsh: 'zsh',
}; // prettier-ignore

type Block = { start: number; end: number; language: string; code: string };

/**
 * Moves code blocks of at least `longest` units out of a text: each becomes a file, and a line names it in its place. For
 * `ReplyPlatform.attach`.
 */
export function takeLongCode(text: string, longest: number): { text: string; files: ReplyFile[] } {
  if (text.length < longest) return { text, files: [] };
  const files: ReplyFile[] = [];
  let rest = '';
  let at = 0;
  for (const { start, end, language, code } of codeBlocks(text)) {
    if (code.length < longest) continue;
    const name = `code-${files.length + 1}.${extensions[language.toLowerCase()] ?? 'txt'}`;
    files.push({ path: '', name, mime: 'text/plain', kind: 'document', data: Buffer.from(code) });
    rest += `${text.slice(at, start)}📎 ${name}`;
    at = end;
  }
  return { text: rest + text.slice(at), files };
}

/** The blocks between fences at the beginning of lines. An unclosed block extends to the end. */
function codeBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let open: { start: number; from: number; marker: string; language: string } | null = null;
  for (let at = 0; at <= text.length;) {
    const lineEnd = text.indexOf('\n', at);
    const end = lineEnd < 0 ? text.length : lineEnd;
    const line = text.slice(at, Math.min(end, at + longestOpener)).trimEnd();
    if (open === null) {
      const [, marker, language = ''] = /^(`{3,}|~{3,})\s{0,9}([\w+#.-]{0,40})/.exec(line) ?? [];
      if (marker !== undefined && !line.slice(marker.length).includes('`')) open = { start: at, from: end + 1, marker, language };
    } else if (isEnd(line, open.marker)) {
      blocks.push({ ...open, end, code: text.slice(open.from, at) });
      open = null;
    }
    at = end + 1;
  }
  if (open !== null) blocks.push({ ...open, end: text.length, code: text.slice(open.from) });
  return blocks;
}

/** A longer line opens and closes no block. */
const longestOpener = 200;

const isEnd = (line: string, marker: string): boolean => {
  const marks = line.trimStart();
  return marks.length >= marker.length && marks === marker.charAt(0).repeat(marks.length) && line.length - marks.length <= 3;
};
