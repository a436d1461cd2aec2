const mostMoves = 5;
const moved = new Set([301, 302, 307, 308]);

/**
 * A `fetch` that repeats a POST unchanged after a redirect: a transferred issue, a renamed repository. The standard one would
 * send a GET and take the returned list for the created object. Redirects to another server are not followed.
 */
export const followWrites: typeof fetch = async (input, options) => {
  if (options?.method !== 'POST') return fetch(input, options);
  let url = input instanceof Request ? input.url : String(input);
  for (let moves = 0; ; moves++) {
    const response = await fetch(url, { ...options, redirect: 'manual' });
    if (!moved.has(response.status)) return response;
    await response.body?.cancel();
    const next = new URL(response.headers.get('location') ?? '', url);
    if (moves === mostMoves || next.origin !== new URL(url).origin)
      throw new TypeError('A write request was redirected to another address.');
    url = next.href;
  }
};
