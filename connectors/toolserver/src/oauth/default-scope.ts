import { scope } from './what-is-granted.ts';

/** A client that names no scope means the only one there is; the authorization server would refuse it. */
export function withDefaultScope(url: string): string {
  const [path = '', query = ''] = splitOnce(url, '?');
  const params = new URLSearchParams(query);
  if ((params.get('scope') ?? '').trim() !== '') return url;
  params.set('scope', scope);
  return `${path}?${params.toString()}`;
}

const splitOnce = (text: string, at: string): string[] => {
  const index = text.indexOf(at);
  return index === -1 ? [text] : [text.slice(0, index), text.slice(index + 1)];
};
