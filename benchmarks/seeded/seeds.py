"""What is put into which function of which public program."""

# ruff: noqa: E501 - code of other languages, as it stands there
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Seed:
    """A regression made by hand: one text of a file is replaced."""

    name: str
    file: str
    culprit: tuple[str, ...]
    """Any of these is the culprit: the function that was changed, and the one that a compiler puts it into."""
    old: str
    new: str


# what is put at the begin of a function; {n}: how much of it
C_KINDS = {
    "loop": "{{ volatile unsigned seed_ = 0; for (unsigned i_ = 0; i_ < {n}; i_++) seed_ += i_ * 7u; }}",
    "allocation": "{{ for (unsigned i_ = 0; i_ < {n} / 40 + 1; i_++) {{ char *volatile m_ = malloc(48 + i_ % 900); m_[0] = 1; free(m_); }} }}",
    "copy": '{{ static char from_[4096]; static char to_[4096]; for (unsigned i_ = 0; i_ < {n} / 20 + 1; i_++) {{ memcpy(to_, from_, 1024 + i_ % 2 * 1024); __asm__ volatile("" ::"r"(to_) : "memory"); }} }}',
    "logging": '{{ char b_[200]; for (unsigned i_ = 0; i_ < {n} / 200 + 1; i_++) {{ snprintf(b_, sizeof b_, "%s: %d items", __func__, (int)i_); __asm__ volatile("" ::"r"(b_) : "memory"); }} }}',
    "strlen": '{{ static char s_[1500]; if (!s_[0]) memset(s_, \'x\', 1400); volatile size_t l_ = 0; for (unsigned i_ = 0; i_ < {n} / 25 + 1; i_++) {{ l_ += strlen(s_ + i_ % 16); __asm__ volatile("" ::: "memory"); }} }}',
}
GO_KINDS = {
    "loop": "{{ for i_ := 0; i_ < {n}; i_++ {{ SeedSink += i_ * 7 }} }};",
    "allocation": "{{ for i_ := 0; i_ < {n}/60+1; i_++ {{ SeedBytes = make([]byte, 64+i_%500) }} }};",
    "logging": '{{ for i_ := 0; i_ < {n}/150+1; i_++ {{ SeedString = fmt.Sprintf("%d items of %s", i_, "a") }} }};',
    "regexp": "{{ for i_ := 0; i_ < {n}/3000+1; i_++ {{ SeedRe = regexp.MustCompile(`a+[bc]d*(e|f)`) }} }};",
    "map": "{{ m_ := map[int]int{{}}; for i_ := 0; i_ < {n}/20+1; i_++ {{ m_[i_] = i_ }}; SeedSink += len(m_) }};",
    "copy": "{{ b_ := []byte(SeedText); for i_ := 0; i_ < {n}/100+1; i_++ {{ SeedBytes = append([]byte(nil), b_...) }} }};",
}
PY_KINDS = {
    "loop": "_s = 0\nfor _i in range({n}): _s += _i",
    "regex": "import re as _re\nfor _i in range({n} // 1500 + 1): _re.purge(); _re.compile(r'(a+)[bc]*d|e{{2,3}}')",
    "logging": "import logging as _l\nfor _i in range({n} // 40 + 1): _l.getLogger('seed').debug('item %s', _i)",
    "copy": "import copy as _c\nfor _i in range({n} // 200 + 1): _c.deepcopy([1, [2, 3], {{'a': 4}}])",
    "sorting": "for _i in range({n} // 100 + 1): sorted(range(60), key=lambda x: -x)",
    "builtin": "_t = 'x' * 400\nfor _i in range({n} // 8 + 1): len(_t.upper())",
}

CJSON = [
    Seed(
        "O(n^2): strlen of all in parse_string",
        "cJSON.c",
        ("parse_string",),
        "const unsigned char *input_end = buffer_at_offset(input_buffer) + 1;",
        'const unsigned char *input_end = buffer_at_offset(input_buffer) + 1; for (int r_ = 0; r_ < 3; r_++) { if (strlen((const char*)input_buffer->content) == 0) return false; __asm__ volatile("" ::: "memory"); }',
    ),
    Seed(
        "O(n^2): parse_array walks its list",
        "cJSON.c",
        ("parse_array", "parse_value"),
        "            /* add to the end and advance */\n            current_item->next = new_item;\n            new_item->prev = current_item;\n            current_item = new_item;\n        }\n\n        /* parse next value */",
        "            cJSON *w_ = head; volatile int n_ = 0; while (w_ != NULL && w_ != current_item) { w_ = w_->next; n_++; }\n            current_item->next = new_item;\n            new_item->prev = current_item;\n            current_item = new_item;\n        }\n\n        /* parse next value */",
    ),
    Seed(
        "O(n^2): add_item_to_array walks to the end",
        "cJSON.c",
        ("add_item_to_array", "add_item_to_object", "cJSON_AddItemToArray"),
        "        if (child->prev)\n        {\n            suffix_object(child->prev, item);",
        "        if (child->prev)\n        {\n            cJSON *w_ = child; while (w_->next) w_ = w_->next;\n            suffix_object(w_, item);",
    ),
    Seed("buffer grows by one: ensure", "cJSON.c", ("ensure",), "newsize = needed * 2;", "newsize = needed;"),
    Seed(
        "copies what it prints: print_value",
        "cJSON.c",
        ("print_value",),
        "    unsigned char *output = NULL;\n\n    if ((item == NULL) || (output_buffer == NULL))\n    {\n        return false;\n    }\n\n    switch ((item->type) & 0xFF)",
        "    unsigned char *output = NULL;\n\n    if ((item == NULL) || (output_buffer == NULL))\n    {\n        return false;\n    }\n    if (item->type & (cJSON_String | cJSON_Number)) cJSON_Delete(cJSON_Duplicate(item, 1));\n\n    switch ((item->type) & 0xFF)",
    ),
    Seed(
        "counts at each child: cJSON_Duplicate_rec",
        "cJSON.c",
        ("cJSON_Duplicate_rec", "cJSON_Duplicate"),
        "    while (child != NULL)\n    {\n        if(depth >= CJSON_CIRCULAR_LIMIT)",
        "    while (child != NULL)\n    {\n        if (cJSON_GetArraySize(item) < 0) goto fail;\n        if(depth >= CJSON_CIRCULAR_LIMIT)",
    ),
    Seed(
        "parses the number three times: parse_number",
        "cJSON.c",
        ("parse_number", "parse_value"),
        "    number = strtod((const char*)number_c_string, (char**)&after_end);",
        "    for (int r_ = 0; r_ < 3; r_++) number = strtod((const char*)number_c_string, (char**)&after_end);",
    ),
    Seed(
        "wipes before it frees: cJSON_Delete",
        "cJSON.c",
        ("cJSON_Delete",),
        "        global_hooks.deallocate(item);\n        item = next;",
        '        for (int r_ = 0; r_ < 8; r_++) { memset(item, r_, sizeof *item); __asm__ volatile("" ::: "memory"); }\n        global_hooks.deallocate(item);\n        item = next;',
    ),
    Seed(
        "parses twice to check: cJSON_ParseWithOpts",
        "cJSON.c",
        ("cJSON_ParseWithOpts", "cJSON_Parse"),
        "    return cJSON_ParseWithLengthOpts(value, buffer_length, return_parse_end, require_null_terminated);",
        "    cJSON_Delete(cJSON_ParseWithLengthOpts(value, buffer_length, return_parse_end, require_null_terminated));\n    return cJSON_ParseWithLengthOpts(value, buffer_length, return_parse_end, require_null_terminated);",
    ),
    Seed(
        "duplicates the string to measure it: update_offset",
        "cJSON.c",
        ("update_offset", "print_value", "print_string_ptr", "print_array", "print_object"),
        "    buffer->offset += strlen((const char*)buffer_pointer);",
        "    { unsigned char *c_ = cJSON_strdup(buffer_pointer, &global_hooks); buffer->offset += strlen((const char*)c_); global_hooks.deallocate(c_); }",
    ),
]
MISTUNE = [
    Seed(
        "cache gone: compile_sc",
        "src/mistune/core.py",
        ("compile_sc",),
        "        sc = self.__sc.get(key)\n        if sc:\n            return sc\n",
        "",
    ),
    Seed(
        "tokens copied: append_token",
        "src/mistune/core.py",
        ("append_token",),
        '        """Add token to the end of token list."""\n        self.tokens.append(token)',
        "        self.tokens = [dict(each) for each in self.tokens] + [token]",
    ),
    Seed(
        "O(n^2): render_tokens adds strings",
        "src/mistune/core.py",
        ("render_tokens",),
        'return "".join(self.iter_tokens(tokens, state))',
        'parts = []\n        for each in self.iter_tokens(tokens, state):\n            parts = parts + [each]\n            text = "".join(parts)\n        return "".join(parts)',
    ),
    Seed(
        "renders twice: render_token",
        "src/mistune/renderers/html.py",
        ("render_token",),
        '        func = self._get_method(token["type"])\n        attrs',
        '        for _ in range(12): func = self._get_method(token["type"])\n        attrs',
    ),
    Seed(
        "state copied by deepcopy: copy",
        "src/mistune/core.py",
        ("copy",),
        "        state = self.__class__(self.env)\n        state.in_image",
        "        import copy as _c\n        state = _c.deepcopy(self)\n        state.env = self.env\n        state.in_image",
    ),
    Seed(
        "escapes char by char: escape",
        "src/mistune/util.py",
        ("escape",),
        '    s = s.replace("&", "&amp;")',
        '    for _ in range(20): "".join([c for c in s])\n    s = s.replace("&", "&amp;")',
    ),
    Seed(
        "line end by split: find_line_end_at",
        "src/mistune/core.py",
        ("find_line_end_at",),
        "        m = _LINE_END.search(self.src, pos)",
        "        self.src.splitlines()\n        m = _LINE_END.search(self.src, pos)",
    ),
    Seed(
        "parses inline twice: render",
        "src/mistune/inline_parser.py",
        ("render",),
        "        self.parse(state)\n        return state.tokens",
        "        self.parse(self.fresh(state))\n        self.parse(state)\n        return state.tokens\n\n    def fresh(self, state):\n        other = state.copy()\n        other.src = state.src\n        return other",
    ),
    Seed(
        "trigger regex not kept: _get_fast_trigger_re",
        "src/mistune/inline_parser.py",
        ("_get_fast_trigger_re", "_find_fast_text_end"),
        "            self._fast_trigger_re = re.compile(pattern)",
        "            re.purge()\n            self._fast_trigger_re = re.compile(pattern)\n            return re.compile(pattern)",
    ),
]
BLACKFRIDAY = [
    Seed(
        "isFenceLine without its early return",
        "block.go",
        ("isFenceLine",),
        "	if data[i] != '~' && data[i] != '`' {\n		return 0, \"\"\n	}\n\n	c := data[i]",
        '	if strings.Count(string(data), "`") > 1000000 {\n		return 0, ""\n	}\n	if data[i] != \'~\' && data[i] != \'`\' {\n		return 0, ""\n	}\n\n	c := data[i]',
    ),
    Seed(
        "slow case always: expandTabs",
        "markdown.go",
        ("expandTabs",),
        "	if !slowcase {",
        "	if !slowcase && len(line) == 0 {",
    ),
    Seed(
        "entities by a buffer each: attrEscape",
        "html.go",
        ("attrEscape",),
        "	org := 0\n	for i, ch := range src {",
        '	src = []byte(strings.ToLower(strings.ToUpper(string(src))) + "")\n	org := 0\n	for i, ch := range src {',
    ),
    Seed(
        "inline copies its rest at each step",
        "inline.go",
        ("inline",),
        "		// copy inactive chars into the output",
        "		rest := append([]byte(nil), data[i:]...)\n		_ = rest\n		// copy inactive chars into the output",
    ),
    Seed(
        "renders a paragraph twice",
        "block.go",
        ("renderParagraph", "func1"),
        "		p.inline(out, data[beg:end])\n		return true\n	}\n	p.r.Paragraph",
        "		var twice bytes.Buffer\n		p.inline(&twice, data[beg:end])\n		p.inline(out, data[beg:end])\n		return true\n	}\n	p.r.Paragraph",
    ),
    Seed(
        "first pass three times",
        "markdown.go",
        ("MarkdownOptions",),
        "	first := firstPass(p, input)",
        "	firstPass(p, input)\n	firstPass(p, input)\n	first := firstPass(p, input)",
    ),
    Seed(
        "isReference builds a string",
        "markdown.go",
        ("isReference",),
        "	// up to 3 optional leading spaces\n	if len(data) < 4 {",
        '	if strings.Contains(string(data), "\\x00\\x01") {\n		return 0\n	}\n	if len(data) < 4 {',
    ),
]
GO_SINKS = """package blackfriday

import (
	"regexp"
	"strings"
)

var SeedSink int
var SeedBytes []byte
var SeedString string
var SeedRe *regexp.Regexp
var SeedText = strings.Repeat("seed ", 30)
"""
