const mostMoves = 5;
const moved = new Set([301, 302, 307, 308]);

/**
 * `fetch`, which repeats a POST as it is where GitHub says that its place has moved: an issue that was transferred, a repository with another name. The
 * standard one would ask with GET, and take the list that it gets for what was written. Nothing is followed to another server.
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
