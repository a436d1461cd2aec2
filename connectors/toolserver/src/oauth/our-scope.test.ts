import { expect, test } from 'vitest';
import { withOurScope } from './our-scope.ts';

test('adds the scope to a request without it', () => {
  expect(withOurScope('/oauth/authorize')).toBe('/oauth/authorize?scope=ask');
  expect(withOurScope('/oauth/authorize?a=1?2&scope=+')).toBe('/oauth/authorize?a=1%3F2&scope=ask');
  expect(withOurScope('/oauth/authorize?scope=openid&state=a%20b')).toBe('/oauth/authorize?scope=ask+openid&state=a+b');
});

test('leaves a request with the scope, or an ambiguous one, unchanged', () => {
  for (const url of ['/oauth/authorize?scope=openid+ask&state=a%20b', '/oauth/authorize?scope=openid&scope=profile'])
    expect(withOurScope(url)).toBe(url);
});
