/* test_report_page.c: pages: what is escaped, wherever it stands; tables, figures, footers, CSV. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulator/report_page.h"

/* What was written to the stream, which is closed. */
static char *contents(FILE *f)
{
    size_t size = (size_t)ftell(f);
    char *text = calloc(size + 1, 1);
    rewind(f);
    assert_int_equal(fread(text, 1, size, f), size);
    fclose(f);
    return text;
}

typedef void writer(FILE *out, const struct page *p);

static char *written(writer *write, const struct page *p)
{
    FILE *out = tmpfile();
    write(out, p);
    return contents(out);
}

/* How often `what` stands in the text. */
static int count(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what))
        n++;
    return n;
}

static void must_have(const char *text, const char *what)
{
    if (strstr(text, what) == NULL)
        fail_msg("missing: %s\nin: %s", what, text);
}

/* What stands between the first `open` and the `close` that follows. */
static void between(const char *text, const char *open, const char *close, char *to, size_t room)
{
    const char *begin = strstr(text, open), *end;
    assert_non_null(begin);
    begin += strlen(open);
    end = strstr(begin, close);
    assert_non_null(end);
    snprintf(to, room, "%.*s", (int)(end - begin), begin);
}

static const struct {
    const char *text, *html, *markdown;
} escapes[] = {
    {"plain, 1 + 2", "plain, 1 + 2", "plain, 1 + 2"},
    {"<script>alert('1')</script>&amp;\"",
     "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;amp;&quot;",
     "\\<script\\>alert('1')\\</script\\>\\&amp;\""},
    {"*a* _b_ `c` [d](e) | #f ~g~ \\", "*a* _b_ `c` [d](e) | #f ~g~ \\",
     "\\*a\\* \\_b\\_ \\`c\\` \\[d\\](e) \\| \\#f \\~g\\~ \\\\"},
    {"\x1b[31mred\x01\x7f", "?[31mred??", " \\[31mred  "},
    {"two\nlines\tand", "two\nlines\tand", "two lines and"},
    {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
     "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"\xff \xc3( \xe2\x82", "? ?( ??", "? ?( ??"}, /* no UTF-8 */
    {"\xc0\xaf \xe0\x80\xbc", "?? ???", NULL},     /* longer than need be: a hidden / and < */
    {"\xe0\x83\xa9 \xf0\x82\x82\xac", "??? ????", NULL},
    {"\xed\xa0\x80 \xf4\x90\x80\x80", "??? ????", NULL}, /* surrogate, beyond U+10FFFF */
    {"\xc2\x85 \xef\xbf\xbe", "?? ???", NULL},           /* a control, no character */
};

static void test_escapes(void **state)
{
    (void)state;
    char got[200];
    for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
        struct page *p = page_new("title");
        page_headline(p, "%s", escapes[i].text);
        char *html = written(page_write_html, p), *markdown = written(page_write_markdown, p);
        between(html, "<p class=\"headline\">", "</p>", got, sizeof got);
        assert_string_equal(got, escapes[i].html);
        between(markdown, "\n**", "**\n", got, sizeof got);
        if (escapes[i].markdown != NULL)
            assert_string_equal(got, escapes[i].markdown);
        free(html);
        free(markdown);
        page_free(p);
    }
}

/* The same text wherever a text can be. */
static struct page *everywhere(const char *text)
{
    struct page *p = page_new(text);
    char columns[100], rows[100];
    page_headline(p, "%s", text);
    page_heading(p, 2, "%s", text);
    page_heading(p, 3, "%s", text);
    page_paragraph(p, "%s", text);
    page_lines(p, text);
    snprintf(columns, sizeof columns, "%s\t>%s", text, text);
    struct page_block *table = page_table(p, columns);
    page_cell(table, "%s", text);
    snprintf(rows, sizeof rows, "%s\n", text);
    page_rows(table, rows);
    page_bar(page_bars(p, text), 1, "%s", text);
    page_footer(p, text, "%s", text);
    page_not_established(p, "%s", text);
    return p;
}

static void test_escaped_everywhere(void **state)
{
    (void)state;
    struct page *p = everywhere("<b>&\"'");
    char *html = written(page_write_html, p), *markdown = written(page_write_markdown, p);
    /* the title stands twice, a figure's caption twice */
    assert_int_equal(count(html, "&lt;b&gt;&amp;&quot;&#39;"), 17);
    assert_int_equal(count(html, "<b>"), 0);
    /* as they stand inside a fence: the lines and the figure's label */
    assert_int_equal(count(markdown, "\\<b\\>\\&\"'"), 13);
    assert_int_equal(count(markdown, "\n<b>&\"'"), 2);
    free(html);
    free(markdown);
    page_free(p);
}

/* Nothing is run and nothing fetched. */
static void test_alone(void **state)
{
    (void)state;
    static const char *const never[] = {
        "<script", "<link", "<img", "<iframe", "src=", "href=", "url(", "@import", " on"};
    struct page *p = everywhere("x");
    char *html = written(page_write_html, p);
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        if (strstr(html, never[i]) != NULL)
            fail_msg("the page has %s", never[i]);
    must_have(html, "default-src 'none'");
    free(html);
    page_free(p);
}

static void test_table(void **state)
{
    (void)state;
    struct page *p = page_new("t");
    struct page_block *table = page_table(p, "name\t>count");
    page_heading(p, 2, "behind");
    page_rows(table, "a\t1\nb\t");
    page_cell(table, "%d", 2);
    page_cell(table, "c|d");
    char *html = written(page_write_html, p), *markdown = written(page_write_markdown, p);
    must_have(html,
              "<tr><th scope=\"col\">name</th><th scope=\"col\" class=\"right\">count</th></tr>\n"
              "<tr><td>a</td><td class=\"right\">1</td></tr>\n"
              "<tr><td>b</td><td class=\"right\">2</td></tr>\n"
              "<tr><td>c|d</td></tr>\n</table></div>\n<h2>behind</h2>");
    must_have(markdown,
              "| name | count |\n|---|---:|\n| a | 1 |\n| b | 2 |\n| c\\|d |\n\n## behind");
    free(html);
    free(markdown);
    page_free(p);
}

static void test_figure(void **state)
{
    (void)state;
    struct page *p = page_new("t");
    struct page_block *bars = page_bars(p, "how many");
    page_bar(bars, 1000000, "most");
    page_bar(bars, 500000, "half");
    page_bar(bars, 1, "one");
    page_bar(bars, 0, "none");
    char *html = written(page_write_html, p), *markdown = written(page_write_markdown, p);
    must_have(html, "height=\"80\" viewBox=\"0 0 640 80\">\n<title>how many</title>\n");
    must_have(html, "most</text><rect x=\"200\" y=\"3\" width=\"340.0\" height=\"15\"/>"
                    "<text x=\"546.0\" y=\"15\">1,000,000</text>");
    must_have(html, "half</text><rect x=\"200\" y=\"23\" width=\"170.0\"");
    must_have(html, "one</text><rect x=\"200\" y=\"43\" width=\"1.0\"");
    must_have(html, "none</text><rect x=\"200\" y=\"63\" width=\"0.0\"");
    must_have(markdown, "how many\n\n```\n"
                        "most  ######################################## 1,000,000\n"
                        "half  #################### 500,000\none   # 1\nnone  0\n```\n");
    free(html);
    free(markdown);
    page_free(p);
}

/* The figure that a file of its own has, without what is around it. */
static const char *figure_of(const char *svg)
{
    const char *figure = strstr(svg, "<g transform"), *end;
    static char text[1 << 14];
    assert_non_null(figure);
    figure = strstr(figure, "<svg");
    end = strstr(figure, "</g>\n</svg>");
    assert_non_null(end);
    snprintf(text, sizeof text, "%.*s", (int)(end - figure), figure);
    return text;
}

/* Two strips of 100: x runs from 200 to 910.  Names are escaped in labels, captions and titles. */
static void test_strips(void **state)
{
    (void)state;
    struct page *p = page_new("t");
    struct page_block *strips = page_strips(p, 100, "token", " |--|\n", "a & b");
    page_strip(strips, "<first>");
    page_piece(strips, 0, 50, true, "group \"0\"");
    page_piece(strips, 50, 100, false, "group 1");
    page_strip(strips, "second");
    page_piece(strips, 10, 20, true, "%d", 7);
    char *html = written(page_write_html, p), *markdown = written(page_write_markdown, p);
    char *svg = written(page_write_svg, p);
    must_have(html, figure_of(svg));
    must_have(svg,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"930\" height=\"100\"");
    must_have(svg, ">a &amp; b</text>\n<g transform=\"translate(0 25)\">");
    must_have(svg, "<path d=\"M0 0h930v141H0z\" fill=\"#fff\"/>");
    must_have(svg, "text-anchor=\"middle\">token</text>");
    must_have(svg, "x1=\"342.0\" y1=\"52\" x2=\"342.0\" y2=\"58\" stroke=\"#888\"/><text x=\"342.0\" "
                   "y=\"72\" text-anchor=\"middle\">20</text>");
    must_have(svg, "<title>a &amp; b</title>");
    must_have(svg, "text-anchor=\"end\">&lt;first&gt;</text>");
    must_have(svg, "x=\"200.000\" y=\"4\" width=\"355.000\" height=\"18\" fill=\"#3b76c4\" "
                   "fill-opacity=\"1\"><title>group &quot;0&quot;</title></rect>");
    must_have(svg, "x=\"555.000\" y=\"4\" width=\"355.000\" height=\"18\" fill=\"#3b76c4\" "
                   "fill-opacity=\"0.4\"><title>group 1</title></rect>");
    must_have(svg, "x=\"271.000\" y=\"30\" width=\"71.000\"");
    must_have(markdown, "a \\& b\n\n```\n |--|\n```\n");
    free(html);
    free(markdown);
    free(svg);
    page_free(p);
}

/* Two launches of one intensity stand beside one another. */
static void test_two_strokes(void **state)
{
    (void)state;
    struct page *p = page_new("t");
    struct page_block *roofs = page_rooflines(p, "roofs");
    page_roof(roofs, 100, 1000, 10, 1, 5, "a");
    page_roof(roofs, 100, 1000, 10, 1, 5, "b");
    char *svg = written(page_write_svg, p);
    must_have(svg, "<line x1=\"296.7\" y1=\"330.0\" x2=\"296.7\" y2=\"257.8\"");
    must_have(svg, "<line x1=\"302.7\" y1=\"330.0\" x2=\"302.7\" y2=\"257.8\"");
    free(svg);
    page_free(p);
}

/* Three decades each way: x runs from 70 to 750, y from 330 up to 20; the corner is at 100 FLOPs a
   byte.  Two figures make one file. */
static void test_rooflines(void **state)
{
    (void)state;
    struct page *p = page_new("t");
    struct page_block *roofs = page_rooflines(p, "roofs & points");
    page_roof(roofs, 100, 1000, 10, 1, 5, "<%s>", "A100");
    char *html = written(page_write_html, p), *markdown = written(page_write_markdown, p);
    char *svg = written(page_write_svg, p);
    must_have(html, figure_of(svg));
    must_have(svg, "<title>roofs &amp; points</title>");
    must_have(svg, "points=\"70.0,330.0 523.3,123.3 750.0,123.3\"");
    must_have(svg, "<line x1=\"296.7\" y1=\"330.0\" x2=\"296.7\" y2=\"257.8\"");
    must_have(svg, "<title>&lt;A100&gt;: 1 to 5 TFLOP/s</title>");
    must_have(markdown, "<A100>: at 10 FLOPs a byte 1 to 5 TFLOP/s under 10\n");
    must_have(svg, "<text x=\"744.0\" y=\"118.3\" text-anchor=\"end\">&lt;A100&gt;</text>");
    assert_int_equal(count(svg, "<svg"), 2);
    page_strip(page_strips(p, 40, "token", "", "strips"), "one");
    char *both = written(page_write_svg, p);
    assert_int_equal(count(both, "<svg"), 3);
    /* 380 + 74, twice a gap of 16 and a caption of 25 */
    must_have(both, "height=\"536\" viewBox=\"0 0 930 536\"");
    must_have(both, "translate(0 446)");
    must_have(both, "text-anchor=\"middle\">35</text>");
    must_have(both, "roofs &amp; points</text>");
    free(html);
    free(markdown);
    free(svg);
    free(both);
    page_free(p);
}

/* Three units across fill 590 pixels: 196.7 a unit both ways; the middle is at 0.5, 0.5.  A label on
   another one moves a line down. */
static void test_map(void **state)
{
    (void)state;
    struct page *p = page_new("t");
    struct page_block *map = page_map(p, "runs & centre");
    page_point(map, PAGE_RUN, 2, 0, "<%s>", "a");
    page_point(map, PAGE_RUN, -1, 1, "b");
    page_point(map, PAGE_RUN, -1, 1, "c");
    page_point(map, PAGE_CENTRE, 0, 0, "centre");
    page_point(map, PAGE_EXACT, 0, 0.5, "exact");
    char *html = written(page_write_html, p), *markdown = written(page_write_markdown, p);
    char *svg = written(page_write_svg, p);
    must_have(html, figure_of(svg));
    must_have(svg, "<title>runs &amp; centre</title>");
    must_have(svg, "<circle cx=\"630.0\" cy=\"298.3\"");
    must_have(svg, "<text x=\"640.0\" y=\"302.3\">&lt;a&gt;</text>");
    must_have(svg, "<text x=\"50.0\" y=\"105.7\">b</text>");
    must_have(svg, "<text x=\"50.0\" y=\"121.7\">c</text>");
    must_have(svg, "<path d=\"M230.7 298.3h12");
    must_have(svg, "0.5 roundoffs</text>");
    must_have(markdown, "         2          0   <a>\n");
    assert_int_equal(count(svg, "<circle"), 3);
    free(html);
    free(markdown);
    free(svg);
    page_free(p);
}

/* Labels of 8 letters and notes of 10: the plot runs from 86 to 828.  Marks at 0 and 10, and room of
   0.3 on both sides: 70 pixels a unit. */
static void test_chart(void **state)
{
    (void)state;
    struct page *p = page_new("t");
    struct page_block *chart = page_chart(p, "ulps & more", false, "errors < 1");
    page_chart_key(chart, PAGE_DOT, "a run");
    page_chart_key(chart, PAGE_BAR_2, "a <bar>");
    page_chart_limit(chart, 5, "the limit");
    page_chart_limit(chart, 3, "left of it");
    page_chart_row(chart, "10 letters", "%s", "<first>.");
    page_chart_mark(chart, PAGE_DOT, 0, 0, "%s", "zero");
    page_chart_mark(chart, PAGE_CROSS, 10, 10, "ten");
    page_chart_row(chart, "", "second");
    page_chart_mark(chart, PAGE_BAR_2, 2, 8, "six");
    page_chart_mark(chart, PAGE_DIAMOND, 5, 5, "five");
    page_chart_mark(chart, PAGE_RING, 6, 6, "six again");
    page_chart_mark(chart, PAGE_RING, NAN, NAN, "nowhere");
    page_chart_mark(chart, PAGE_BAR_1, 6, INFINITY, "too far");
    page_chart_mark(chart, PAGE_BAR_1, -INFINITY, 6, "too far");
    char *html = written(page_write_html, p), *markdown = written(page_write_markdown, p);
    char *svg = written(page_write_svg, p);
    must_have(html, figure_of(svg));
    must_have(svg, "<title>errors &lt; 1</title>\n<desc>ulps &amp; more\n&lt;first&gt;.: 10 letters\n"
                   "second: </desc>");
    must_have(svg, "<title>zero</title><circle cx=\"107.0\" cy=\"74.0\" r=\"5\" fill=\"#0072b2\"/>");
    must_have(svg, "<title>ten</title><path d=\"M802.0 69.0l10 10m-10 0l10 -10\"");
    must_have(svg, "<rect x=\"247.0\" y=\"90.0\" width=\"420.0\" height=\"16\" style=\"fill:#e69f00\"");
    must_have(svg, "<text x=\"457.0\" y=\"102.0\" text-anchor=\"middle\" style=\"fill:#000\">six</text>");
    must_have(svg, "stroke-dasharray=\"5 3\"/><text x=\"322.0\" y=\"36.0\">left of it</text>");
    must_have(svg, "stroke-dasharray=\"5 3\"/><text x=\"462.0\" y=\"52.0\">the limit</text>");
    must_have(svg, "text-anchor=\"end\">&lt;first&gt;.</text><text x=\"836.0\"");
    must_have(svg, "text-anchor=\"middle\">ulps &amp; more</text>");
    must_have(svg, ">0</text>");
    assert_null(strstr(svg, ">-0</text>"));
    assert_null(strstr(svg, "nowhere"));
    assert_null(strstr(svg, "too far"));
    must_have(svg, "a &lt;bar&gt;</text>");
    must_have(markdown, "ulps & more\n<first>.: 10 letters\n  0  zero\n  10  ten\nsecond: \n  2  six\n");
    free(html);
    free(markdown);
    free(svg);
    page_free(p);
}

/* Decades are ticks; a caption that is too long goes on in a second line. */
static void test_logarithmic_chart(void **state)
{
    (void)state;
    char caption[200];
    struct page *p = page_new("t");
    memset(caption, 'a', sizeof caption);
    caption[100] = caption[130] = ' ';
    caption[199] = 0;
    struct page_block *chart = page_chart(p, "x", true, caption);
    page_chart_row(chart, "", "a");
    page_chart_mark(chart, PAGE_DOT, 0.01, 0.01, "low");
    page_chart_mark(chart, PAGE_DOT, 1000, 1000, "high");
    page_chart_mark(chart, PAGE_DOT, 0, 0, "no place");
    char *svg = written(page_write_svg, p);
    must_have(svg, ">0.01</text>");
    assert_null(strstr(svg, "no place"));
    must_have(svg, ">1000</text>");
    must_have(svg, "translate(0 42)");
    must_have(svg, "<text x=\"8\" y=\"32\" font-weight=\"bold\">aaaa");
    free(svg);
    page_free(p);
}

static void test_no_rows(void **state)
{
    (void)state;
    struct page *p = page_new("t");
    page_bars(p, "nothing");
    page_table(p, "a");
    char *html = written(page_write_html, p), *markdown = written(page_write_markdown, p);
    must_have(html, "height=\"0\"");
    must_have(markdown, "nothing\n\n```\n```\n\n| a |\n|---|\n\n---\n");
    assert_int_equal(count(html, "Not established"), 0);
    free(html);
    free(markdown);
    page_free(p);
}

static void test_footer(void **state)
{
    (void)state;
    struct page *p = page_new("t");
    page_not_established(p, "one of %d", 2);
    page_footer(p, "command", "flashulp x");
    page_not_established(p, "the other");
    char *html = written(page_write_html, p), *markdown = written(page_write_markdown, p);
    must_have(html, "<footer>\n<h2>Not established</h2>\n<ul>\n<li>one of 2</li>\n"
                    "<li>the other</li>\n</ul>\n<dl>\n<dt>command</dt><dd>flashulp x</dd>\n</dl>");
    must_have(markdown, "---\n\nNot established:\n\n- one of 2\n- the other\n\n"
                        "- command: flashulp x\n");
    assert_string_equal(page_unknown(p, 1), "the other");
    assert_null(page_unknown(p, 2));
    free(html);
    free(markdown);
    page_free(p);
}

/* A fence is longer than the fences in it; a paragraph that begins like a list is none. */
static void test_markdown(void **state)
{
    (void)state;
    struct page *p = page_new("t");
    page_lines(p, "```\n<b>````");
    page_paragraph(p, "12. twelve");
    page_paragraph(p, "- dash");
    page_paragraph(p, "3.5 is no item of a list? it may look like one");
    char *markdown = written(page_write_markdown, p);
    must_have(markdown, "\n`````\n```\n<b>````\n`````\n\n12\\. twelve\n\n\\- dash\n\n3\\.5 is");
    free(markdown);
    page_free(p);
}

static void test_csv(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", ""},
        {"a\tb\n", "a,b\n"},
        {"a\tb", "a,b\n"},
        {"\t\n", ",\n"},
        {"1,2\t\"x\"\tc\rd\n", "\"1,2\",\"\"\"x\"\"\",\"c\rd\"\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        FILE *out = tmpfile();
        page_write_csv(out, rows[i][0]);
        char *text = contents(out);
        assert_string_equal(text, rows[i][1]);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escapes),  cmocka_unit_test(test_escaped_everywhere),
        cmocka_unit_test(test_alone),    cmocka_unit_test(test_table),
        cmocka_unit_test(test_figure),   cmocka_unit_test(test_strips),    cmocka_unit_test(test_rooflines),
        cmocka_unit_test(test_two_strokes),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_chart),
        cmocka_unit_test(test_logarithmic_chart),
        cmocka_unit_test(test_no_rows),  cmocka_unit_test(test_footer),
        cmocka_unit_test(test_markdown), cmocka_unit_test(test_csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
