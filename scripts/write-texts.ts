import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/** The texts of the dashboard that every language must translate. */
export type Texts = { texts: Set<string>; plurals: Set<string>; faults: string[] };

const root = path.resolve(import.meta.dirname, '..');
const sources = ['apps/dashboard/app/src/**/*.{ts,tsx}', 'packages/chat-ui/src/**/*.{ts,tsx}'];
/** Attributes whose text a person reads or hears. */
const spokenAttributes = /^(title|label|aria-label|aria-description|placeholder|alt|hint|heading|legend|words|button|done|busy)$/;
const isWords = (text: string): boolean => /\p{L}{2}/u.test(text);

/** Extracts every text from the code. A fault is a text that cannot be translated: outside of `t`, or with a key that is not a literal. */
export function readTexts(files: Readonly<Record<string, string>> = read()): Texts {
  const found: Texts = { texts: new Set(), plurals: new Set(), faults: [] };
  for (const [file, code] of Object.entries(files)) readFile(file, code, found);
  for (const code of schemaModules(Object.values(files))) readSchemas(code, found.texts);
  return found;
}

/** The modules whose schemas are shown as forms: pages import names from them that end in `Schema` or `Schemas`. */
function schemaModules(codes: readonly string[]): string[] {
  const imported = /^import \{[^}]*\b\w+Schemas?\b[^}]*\} from '@svc\/contract\/([\w-]+\.ts)';/gm;
  const names = new Set(codes.flatMap((code) => [...code.matchAll(imported)].map(([, name = '']) => name)));
  return [...names].map((name) => readFileSync(path.join(root, 'packages/contract/src', name), 'utf8'));
}

function readSchemas(code: string, texts: Set<string>): void {
  new Visitor({
    Property({ key, value }) {
      if (key.type !== 'Identifier' || (key.name !== 'title' && key.name !== 'description')) return;
      if (value.type === 'Literal' && typeof value.value === 'string') texts.add(value.value);
    },
  }).visit(parseSync('schema.ts', code).program);
}

function readFile(file: string, code: string, { texts, plurals, faults }: Texts): void {
  const fault = (start: number, words: string) => faults.push(`${file}:${code.slice(0, start).split('\n').length}: ${words}`);
  const add = (to: Set<string>, node: { type: string; start: number; value?: unknown } | null | undefined) => {
    if (node?.type === 'Literal' && typeof node.value === 'string') to.add(node.value);
    else fault(node?.start ?? 0, 'the text of t, plural, pieces and Rich must be a string literal');
  };
  new Visitor({
    CallExpression({ callee, arguments: given }) {
      if (callee.type !== 'Identifier') return;
      if (callee.name === 't' || callee.name === 'pieces') add(texts, given[0]);
      if (callee.name === 'plural') add(plurals, given[1]);
    },
    JSXText({ value, start }) {
      if (isWords(value)) fault(start, `“${value.trim()}” must go through t or Rich`);
    },
    JSXOpeningElement({ name, attributes }) {
      const isRich = name.type === 'JSXIdentifier' && name.name === 'Rich';
      for (const attribute of attributes) {
        if (attribute.type !== 'JSXAttribute' || attribute.name.type !== 'JSXIdentifier') continue;
        const { value } = attribute;
        if (isRich && attribute.name.name === 'text') add(texts, value);
        else if (value?.type === 'Literal' && spokenAttributes.test(attribute.name.name) && isWords(value.value))
          fault(value.start, `“${value.value}” must go through t`);
      }
    },
  }).visit(parseSync(file, code).program);
}

function read(): Record<string, string> {
  const files = sources
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .filter((file) => !/\.test\.|\/language(s)?\//.test(file));
  return Object.fromEntries(files.toSorted().map((file) => [file, readFileSync(path.join(root, file), 'utf8')]));
}

/** The module with the types of a language; it adds no bytes to the build. */
export const textsModule = ({ texts, plurals }: Texts): string => `${head}
export type Text =
${union(texts)};

/** Keyed by the singular form. */
export type Plural =
${union(plurals)};
`;

const head = `// Written by scripts/write-texts.ts from t(…), plural(…), pieces(…), <Rich text="…"> and the schemas of forms: every text that a language of the dashboard has.
`;
const quoted = (text: string): string =>
  text.includes("'") && !text.includes('"')
    ? JSON.stringify(text)
    : `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
const union = (texts: Set<string>): string =>
  [...texts]
    .toSorted()
    .map((text) => `  | ${quoted(text)}`)
    .join('\n') || '  never';

if (import.meta.main) {
  const found = readTexts();
  writeFileSync(path.join(root, 'apps/dashboard/app/src/language/texts.ts'), textsModule(found));
  process.stderr.write(found.faults.map((fault) => `${fault}\n`).join(''));
  if (found.faults.length > 0) process.exitCode = 1;
}
