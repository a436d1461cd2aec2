import { expect, test } from 'vitest';
import { isChatModel } from './model-list.ts';

test.each([
  'nomic-embed-text:latest',
  'mxbai-embed-large',
  'text-embedding-3-small',
  'text-embedding-nomic-embed-text-v1.5',
  'bge-m3:567m',
  'BAAI/bge-reranker-v2-m3',
  'intfloat/multilingual-e5-large',
  'e5-mistral-7b-instruct',
  'Alibaba-NLP/gte-Qwen2-7B-instruct',
  'all-minilm:22m',
  'snowflake-arctic-embed2',
  'whisper-large-v3-turbo',
  'tts-1-hd',
  'gpt-4o-mini-tts',
  'hexgrad/Kokoro-82M',
  'kokoro',
  'jinaai/jina-reranker-v2',
  'nvidia/parakeet-tdt-0.6b',
  'omni-moderation-latest',
])('%s is not a chat model', (id) => expect(isChatModel(id)).toBe(false));

test.each([
  'llama3.2:3b',
  'qwen3:8b-q4_K_M',
  'qwen/qwen3-4b-2507',
  'gpt-oss:20b',
  'openai/gpt-oss-120b',
  'gemma-3-27b-it',
  'gemma3n:e4b',
  'deepseek-r1',
  'mistralai/Mistral-Small-3.2',
  'phi4-mini',
  'granite4:tiny-h',
  'kimi-k2',
  'hermes4',
  'sambanova-x',
  'battstation',
])('%s may be a chat model', (id) => expect(isChatModel(id)).toBe(true));
