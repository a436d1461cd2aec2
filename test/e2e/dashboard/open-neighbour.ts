import { http } from '@svc/service-kit/builtin.ts';
import { listen } from '@svc/testing/listen.ts';

/** An attacker's program on another port of this host, such as a compromised connector. Browsers send it the host's cookies. */
export type Neighbour = {
  url: string;
  /** The cookies of the last request for its page. */
  cookies(): string;
  close(): Promise<void>;
};

/** `page`: the HTML that it serves. */
export async function openNeighbour(page: string): Promise<Neighbour> {
  let cookies = '';
  const server = http.createServer((request, response) => {
    if (request.url === '/') cookies = request.headers.cookie ?? '';
    response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'svc-login=planted; Path=/core' }).end(page);
  });
  const { port, close } = await listen(server);
  return { url: `http://localhost:${port}`, cookies: () => cookies, close };
}

/** A page that tries everything possible against another address with the visitor's cookies; `results` has the outcomes. */
export const tryingPage = (target: string): string => `<!doctype html><script>
const target = ${JSON.stringify(target)};
const json = { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body: '{}' };
const simple = (type) => ({ method: 'POST', mode: 'no-cors', credentials: 'include', headers: { 'content-type': type }, body: '{}' });
const framed = () => new Promise((resolve, reject) => {
  const frame = Object.assign(document.createElement('iframe'), { src: target });
  frame.onload = () => { try { resolve(frame.contentWindow.localStorage.length); } catch (error) { reject(error); } };
  document.documentElement.append(frame);
});
const included = () => new Promise((resolve, reject) => {
  const script = Object.assign(document.createElement('script'), { src: target + '/core/v2/sessions', onload: resolve, onerror: reject });
  document.documentElement.append(script);
});
const submitted = (path) => new Promise((resolve) => {
  const frame = Object.assign(document.createElement('iframe'), { name: 'f' + Math.random() });
  const form = Object.assign(document.createElement('form'), { action: target + path, method: 'post', enctype: 'text/plain', target: frame.name });
  form.append(Object.assign(document.createElement('input'), { name: '{"a":"', value: '"}' }));
  document.documentElement.append(frame, form);
  frame.onload = () => resolve('sent');
  form.submit();
});
const tries = {
  read: () => fetch(target + '/core/v2/sessions', { credentials: 'include' }).then((answer) => answer.text()),
  act: () => fetch(target + '/core/v2/auth/logout', json).then((answer) => answer.status),
  shell: () => fetch(target + '/', { credentials: 'include' }).then((answer) => answer.text()),
  framed,
  included,
};
globalThis.results = (async () => {
  const found = {};
  for (const [name, attempt] of Object.entries(tries)) found[name] = await attempt().then((got) => 'got ' + got, () => 'refused');
  for (const type of ['text/plain', 'application/x-www-form-urlencoded']) await fetch(target + '/core/v2/auth/logout', simple(type)).catch(() => 0);
  await submitted('/core/v2/auth/logout');
  await submitted('/core/v2/abort?_method=DELETE');
  return found;
})();
</script>`;
