import { expect, test } from 'vitest';
import { browserName } from './browser-name.ts';

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36', 'Chrome Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36 Edg/156.0.0.0',
    'Edge Windows',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/20.1 Safari/605.1.15',
    'Safari macOS',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 20_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/20.1 Mobile/15E148 Safari/604.1',
    'Safari iPhone',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 20_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/156.0 Mobile/15E148 Safari/604.1',
    'Chrome iPhone',
  ],
  [
    'Mozilla/5.0 (Linux; Android 16; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36',
    'Chrome Android',
  ],
  [
    'Mozilla/5.0 (Linux; Android 16; SAMSUNG SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/29.0 Chrome/156.0.0.0 Mobile Safari/537.36',
    'Samsung Internet Android',
  ],
  ['Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0', 'Firefox Linux'],
])('recognizes %s', (agent, name) => {
  expect(Object.values(browserName(agent) ?? {}).join(' ')).toBe(name);
});

test.each(['curl/8.5.0', '', 'a program without a name', 'Mozilla/5.0'])('"%s" is not recognized as a browser', (agent) => {
  expect(browserName(agent)).toBeNull();
});
