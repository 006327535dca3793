// Which of Google's two services for Veo a base URL leads to: Vertex, or else the Gemini API.

/**
 * Whether a base URL is one of Vertex, which has a project in its path:
 * `https://{region}-aiplatform.googleapis.com/v1/projects/{p}/locations/{region}`. Throws a TypeError for
 * what is no URL.
 */
export function isVertexUrl(baseUrl: string): boolean {
  return new URL(baseUrl).pathname.includes('/projects/');
}
