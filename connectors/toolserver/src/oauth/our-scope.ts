import { scope } from './what-is-granted.ts';

/**
 * The URL of an authorization request, with our only scope added. A client may request none, or only scopes that it requests everywhere
 * (`openid profile`, its own names); without ours it would be approved, and get a useless token.
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
