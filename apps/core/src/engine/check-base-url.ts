const maxLength = 2048;

/** An address as it is kept, without a slash at its end; null to clear it, or what is wrong with it. */
export function checkBaseUrl(text: string): { url: string } | { problem: string } | null {
  if (text === '') return null;
  // Blanks and line breaks would be dropped in silence.
  if (text.length > maxLength || /[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return { problem: wrong };
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return { problem: wrong };
  if (username !== '' || password !== '') {
    return { problem: 'The address must hold no name or password. Give the key with "./svc engine key codex".' };
  }
  if (search !== '' || hash !== '') return { problem: 'The address must end with its path: no "?" and no "#".' };
  return { url: text.replace(/\/+$/, '') };
}

const wrong = 'It takes an http or https address, such as http://127.0.0.1:11434/v1, or nothing to clear it.';
