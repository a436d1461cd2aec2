/** One `method=result` of a header, with its properties, such as `header.from` → a domain. Names are in lower case. */
export type AuthResult = { method: string; result: string; properties: ReadonlyMap<string, string> };
/** A server's statement about the origin of a mail (RFC 8601). `server`: its authserv-id. */
export type AuthenticationResults = { server: string; results: AuthResult[] };

/**
 * Parses the value of an `Authentication-Results` header; null for invalid syntax. Comments are ignored and a quoted string is one value,
 * because a sender can influence both.
 */
export function parseAuthenticationResults(value: string): AuthenticationResults | null {
  const clean = withoutComments(value);
  if (clean === null) return null;
  const [head = [], ...parts] = splitStatements(clean);
  const [server, version, ...rest] = head;
  if (server === undefined || rest.length > 0 || (version !== undefined && version !== '1')) return null;
  const results: AuthResult[] = [];
  for (const words of parts) {
    if (words.length === 0 || (words.length === 1 && words[0]?.toLowerCase() === 'none')) continue;
    const result = readResult(words);
    if (result === null) return null;
    results.push(result);
  }
  return { server: server.toLowerCase(), results };
}

function readResult(words: readonly string[]): AuthResult | null {
  const [first = '', ...others] = words;
  const [, method, result] = /^([a-z0-9-]+)(?:\/\d+)?=([a-z]+)$/i.exec(first) ?? [];
  if (method === undefined || result === undefined) return null;
  const properties = new Map<string, string>();
  for (const word of others) {
    const cut = word.indexOf('=');
    if (cut < 1) return null;
    const name = word.slice(0, cut).toLowerCase();
    // Of two equal properties it is unclear which one counts.
    if (properties.has(name)) return null;
    properties.set(name, word.slice(cut + 1));
  }
  return { method: method.toLowerCase(), result: result.toLowerCase(), properties };
}

/** Comments nest and may contain escaped brackets. Null when a comment or a quoted string is not closed. */
function withoutComments(value: string): string | null {
  let clean = '';
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < value.length; at++) {
    const sign = value.charAt(at);
    if (sign === '\\' && (isQuoted || depth > 0)) {
      if (isQuoted) clean += value.slice(at, at + 2);
      at++;
      continue;
    }
    if (isQuoted || depth === 0) {
      if (sign === '"') isQuoted = !isQuoted;
      if (sign === '(' && !isQuoted) {
        depth = 1;
        clean += ' ';
      } else clean += sign;
    } else if (sign === '(') depth++;
    else if (sign === ')') depth--;
  }
  return depth === 0 && !isQuoted ? clean : null;
}

/** The words of each statement. Statements end at ";" and words at spaces, neither within quotes. Spaces around "=" are ignored. */
function splitStatements(clean: string): string[][] {
  const statements: string[][] = [[]];
  const unspaced = clean.replaceAll(/\s*=\s*(?=(?:[^"]*"[^"]*")*[^"]*$)/g, '=');
  for (const [token, quoted] of unspaced.matchAll(/;|((?:[^\s;"]|"(?:[^"\\]|\\.)*")+)/g)) {
    if (token === ';') statements.push([]);
    else
      statements
        .at(-1)
        ?.push((quoted ?? token).replaceAll(/"((?:[^"\\]|\\.)*)"/g, (_, inner: string) => inner.replaceAll(/\\(.)/g, '$1')));
  }
  return statements;
}
