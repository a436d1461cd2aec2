import { expect, test } from 'vitest';
import { withOurScope } from './our-scope.ts';

test('who does not ask for the one scope there is gets it, too', () => {
  expect(withOurScope('/oauth/authorize')).toBe('/oauth/authorize?scope=ask');
  expect(withOurScope('/oauth/authorize?a=1?2&scope=+')).toBe('/oauth/authorize?a=1%3F2&scope=ask');
  expect(withOurScope('/oauth/authorize?scope=openid&state=a%20b')).toBe('/oauth/authorize?scope=ask+openid&state=a+b');
});

test('what asks for it, or cannot be understood, stays', () => {
  for (const url of ['/oauth/authorize?scope=openid+ask&state=a%20b', '/oauth/authorize?scope=openid&scope=profile'])
    expect(withOurScope(url)).toBe(url);
});
