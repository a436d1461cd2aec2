import { scope } from './what-is-granted.ts';

/**
 * The address of an authorization that asks for what there is: one scope. A client may name none, or only such that it wants everywhere
 * (`openid profile`, a name of its own); without ours it would be approved, and get a token that is good for nothing.
 */
export function withOurScope(url: string): string {
  const [path = '', query = ''] = splitOnce(url, '?');
  const params = new URLSearchParams(query);
  const asked = (params.get('scope') ?? '').split(' ').filter((each) => each !== '');
  if (asked.includes(scope) || params.getAll('scope').length > 1) return url;
  params.set('scope', [scope, ...asked].join(' '));
  return `${path}?${params.toString()}`;
}

const splitOnce = (text: string, at: string): string[] => {
  const index = text.indexOf(at);
  return index === -1 ? [text] : [text.slice(0, index), text.slice(index + 1)];
};
