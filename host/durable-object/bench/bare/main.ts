/** A Worker that does nothing, to compare the start of ours with. */
export default { fetch: () => new Response("null") };
