// The one HTML file of the page, and the headers that fence it in.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The page with its headers, ready to send. */
export interface Page {
  readonly html: string;
  readonly headers: { readonly [name: string]: string };
}

/** Where the build puts the page: beside this file in the package, in dist when this file runs from its source. */
const PLACES = ['./page.html', '../../dist/dashboard/page.html'];

/** Loads the built page. Null when it has not been built. */
export function loadPage(): Page | null {
  for (const place of PLACES) {
    try {
      return createPage(readFileSync(new URL(place, import.meta.url), 'utf8'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return null;
}

/** Fences a self-contained page: only the scripts and styles that stand in it run, and it talks to its own origin only. */
export function createPage(html: string): Page {
  const policy = [
    "default-src 'none'",
    `script-src ${hashes(html, 'script')}`,
    `style-src ${hashes(html, 'style')}`,
    "connect-src 'self'",
    // Recordings.
    "media-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return {
    html,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy.join('; '),
      'Cache-Control': 'no-store',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
    },
  };
}

/** Source list for the inline elements of one kind. Source: Content Security Policy Level 3, section 2.3.1. */
function hashes(html: string, element: 'script' | 'style'): string {
  const found = html.matchAll(new RegExp(`<${element}(?:\\s[^>]*)?>([\\s\\S]*?)</${element}>`, 'g'));
  const list = [...found].map(
    ([, content = '']) => `'sha256-${createHash('sha256').update(content, 'utf8').digest('base64')}'`,
  );
  return list.length > 0 ? list.join(' ') : "'none'";
}
