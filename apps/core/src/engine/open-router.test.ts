import { expect, test } from 'vitest';
import { isOpenRouter } from './open-router.ts';

test.each([
  'https://openrouter.ai/api/v1',
  'https://OpenRouter.AI/api/v1',
  'https://eu.openrouter.ai/api/v1',
  'https://openrouter.ai:443/',
])('a key of OpenRouter is sent to %s', (url) => expect(isOpenRouter(url)).toBe(true));

test.each([
  null,
  '',
  'openrouter.ai',
  'http://openrouter.ai/api/v1',
  'https://openrouter.ai.evil.example/api/v1',
  'https://evilopenrouter.ai/api/v1',
  'https://evil.example/openrouter.ai',
  'https://evil.example/?openrouter.ai',
  'https://openrouter.ai@evil.example/',
  'https://evil.example#.openrouter.ai',
  'https://evil.example\\.openrouter.ai',
  'https://openrouter.ai%2eevil.example/',
])('a key of OpenRouter is not sent to %j', (url) => expect(isOpenRouter(url)).toBe(false));
