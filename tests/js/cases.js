/** One text as it may arrive: whole, character by character, and in pieces of three. */

/** @param {string} text @returns {[string, string[]][]} */
export function splits(text) {
  const signs = Array.from(text);
  const threes = [];
  for (let i = 0; i < text.length; i += 3) threes.push(text.slice(i, i + 3));
  return [["whole", [text]], ["by character", signs], ["by three", threes]];
}

/** Markdown that a model may write; every renderer case runs over these. */
export const SAMPLES = [
  "Plain words, nothing else.",
  "# Title\n\nA paragraph with **bold**, *italic*, `code` and ~~old~~.\n\nAnother one.",
  "1. one\n2. two\n\n   still two\n3. three\n\nAfter the list.",
  "- a\n- b\n  - c\n\n- d after a blank line\n\nend",
  "```python\ndef f():\n    return '''a\n\nb'''\n```\nText right after.",
  "Before\n```js\nlet x = 1;\n```\n\n~~~\nwild\n~~~\n",
  "An open fence:\n\n```rust\nfn main() {\n\n}",
  "| a | b |\n|---|--:|\n| 1 | **2** |\n| 3 | 4 |\n\ntail",
  "> quote **bold**\n> more\n\nout",
  "Sum $$\\sum_{i=1}^n x_i$$ and $x^2$, costs $5 and $10.\n\n$$\na_1 + b_1\n$$\n\nend",
  "\\(a_1\\) then \\[ b_2 \\] end",
  "[link](https://example.com/a_(b)) and [open](https://exa",
  "my_var_name and 2*3*4 and **unclosed and _half",
  "- [x] done\n- [ ] open\n",
  "Title\n=====\n\nSub\n---\n\n---\n\nend",
  "- item\n\n  ```sh\n  ls\n\n  pwd\n  ```\n\n- next\n\nout",
  "ends with a star *",
  "नमस्ते **दुनिया** 👩‍👩‍👧‍👦 and العربية\n\nend",
  "<b onclick=alert(1)>bold</b>\n\n<script>alert(1)</script>\n\n&lt;safe&gt; &amp; sound",
  "    indented code\n\n    more of it\n\ntext",
];
