/** What a reader sees of a message, and the errors in its markup. */
export type Seen = { text: string; links: string[]; faults: string[] };

type Rule = { test: RegExp; quality?: number; read(found: RegExpExecArray, seen: Seen): string };

/** The rules of Discord's clients: those of simple-markdown with Discord's additions, in their order. */
const rules: readonly Rule[][] = [
  [{ test: /^```(?:([a-z0-9_+\-.#]+?)\n)?\n*([^\n][^]*?)\n*```/i, read: ([, , code = '']) => code }],
  [{ test: /^\\([^0-9A-Za-z\s])/, read: ([, sign = '']) => sign }],
  [{ test: /^<(?:[@#:/]|a:|t:)[^>\n]*>/, read: ([sign]) => sign }],
  [
    {
      test: /^<(https?:[^\s>]+)>/,
      read([, address = ''], seen) {
        seen.links.push(address);
        return address;
      },
    },
  ],
  [
    {
      test: /^\[((?:\[[^\]]*\]|[^[\]]|\](?=[^[]*\]))*)\]\(\s*<?((?:\([^)]*\)|[^\s\\]|\\.)*?)>?(?:\s+['"]([\s\S]*?)['"])?\s*\)/,
      read([, label = '', address = ''], seen) {
        seen.links.push(address);
        return readInline(label, seen);
      },
    },
  ],
  [
    {
      test: /^https?:\/\/[^\s<]+[^<.,:;"'\]\s]/,
      read([address], seen) {
        seen.links.push(address);
        return address;
      },
    },
  ],
  [
    {
      quality: 0.2,
      test: /^\*(?=\S)((?:\*\*|\\[\s\S]|\s+(?:\\[\s\S]|[^\s*\\]|\*\*)|[^\s*\\])+?)\*(?!\*)|^\b_((?:__|\\[\s\S]|[^\\_])+?)_\b/,
      read: ([, stars, lines], seen) => readInline(stars ?? lines ?? '', seen),
    },
    { quality: 0.1, test: /^\*\*((?:\\[\s\S]|[^\\])+?)\*\*(?!\*)/, read: ([, inner = ''], seen) => readInline(inner, seen) },
    { quality: 0, test: /^__((?:\\[\s\S]|[^\\])+?)__(?!_)/, read: ([, inner = ''], seen) => readInline(inner, seen) },
  ],
  [{ test: /^~~([\s\S]+?)~~(?!_)/, read: ([, inner = ''], seen) => readInline(inner, seen) }],
  [{ test: /^(`+)([\s\S]*?[^`])\1(?!`)/, read: ([, , code = '']) => code }],
  [{ test: /^\|\|([\s\S]+?)\|\|/, read: ([, inner = ''], seen) => readInline(inner, seen) }],
];

function readInline(text: string, seen: Seen): string {
  let plain = '';
  for (let rest = text; rest !== '';) {
    const found = firstRule(rest);
    if (found === null) {
      if (/^[*~|`\\]/.test(rest)) seen.faults.push(`a bare sign at ${rest.slice(0, 20)}`);
      plain += rest.charAt(0);
      rest = rest.slice(1);
      continue;
    }
    plain += found.rule.read(found.match, seen);
    rest = rest.slice(found.match[0].length);
  }
  return plain;
}

function firstRule(text: string): { rule: Rule; match: RegExpExecArray } | null {
  for (const group of rules) {
    const found = group.flatMap((rule) => {
      const match = rule.test.exec(text);
      return match === null ? [] : [{ rule, match }];
    });
    const [best] = found.toSorted(
      (a, b) => b.match[0].length + (b.rule.quality ?? 0) - a.match[0].length - (a.rule.quality ?? 0),
    );
    if (best !== undefined) return best;
  }
  return null;
}

/** Removes the marks of quotes and headings. Lists are unchanged. */
export function readDiscord(message: string): Seen {
  const seen: Seen = { text: '', links: [], faults: [] };
  const lines = message.replaceAll(/^(?:> )?(?:#{1,3} )?/gm, '');
  seen.text = readInline(lines, seen);
  return seen;
}
