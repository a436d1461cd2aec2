/** A browser without scripts: cookies, redirects and forms, as far as signing in needs them. */
export type Browser = {
  /** Follows redirects until a page comes, or an address that begins with `stopAt`. */
  open(url: string, stopAt?: string): Promise<Page>;
  /** Sends the form of a page. */
  submit(page: Page, fields: Record<string, string>, stopAt?: string): Promise<Page>;
};

export type Page = { url: URL; status: number; headers: Headers; text: string };

export function openBrowser(): Browser {
  const jar = new Map<string, string>();
  const remember = (response: Response) => {
    for (const cookie of response.headers.getSetCookie()) {
      const [name = '', value = ''] = cookie.split(';')[0]!.split(/=(.*)/s);
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
  };
  const go = async (from: URL, init: RequestInit, stopAt?: string): Promise<Page> => {
    let url = from;
    let request = init;
    for (let hops = 0; hops < 10; hops++) {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
      const response = await fetch(url, {
        ...request,
        redirect: 'manual',
        headers: { ...navigation, ...(request.headers as object), cookie },
      });
      remember(response);
      const text = await response.text();
      const location = response.headers.get('location');
      if (location === null) return { url, status: response.status, headers: response.headers, text };
      url = new URL(location, url);
      request = {};
      if (stopAt !== undefined && url.href.startsWith(stopAt))
        return { url, status: response.status, headers: response.headers, text: '' };
    }
    throw new Error('too many redirects');
  };
  return {
    open: (url, stopAt) => go(new URL(url), {}, stopAt),
    submit(page, fields, stopAt) {
      const action = /<form method="post" action="([^"]+)"/.exec(page.text)?.[1];
      if (action === undefined)
        throw new Error(`There is no form on ${page.url.href}: ${page.status} ${page.text.slice(0, 300)}`);
      const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
        ([, name, value]): [string, string] => [name!, value!],
      );
      const body = new URLSearchParams([...hidden, ...Object.entries(fields)]);
      const headers = { origin: page.url.origin, 'content-type': 'application/x-www-form-urlencoded' };
      return go(new URL(action, page.url), { method: 'POST', body, headers }, stopAt);
    },
  };
}
